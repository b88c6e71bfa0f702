//! `shopwright check`: walks sign-in for real, and says what is wrong and who mends it.
