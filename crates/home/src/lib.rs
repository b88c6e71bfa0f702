//! The program's home and the store folder on this computer: lists, connection files, saved passwords, the hand-over.
