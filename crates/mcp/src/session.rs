//! A session: which store, signing in, the requests made in it, its folders.

pub(crate) mod conversation_folders;
pub(crate) mod exchange;
pub(crate) mod licence_token;
pub(crate) mod open_session;
pub(crate) mod sign_in;
pub(crate) mod store_choice;
