//! Names of files and folders that more than one process knows. See spec: system.md.

/// Connection of a store folder.
pub const SHOP_INI: &str = "Shop.ini";
/// Folder of the daily licence tokens in a store folder.
pub const TOKENS: &str = "tokens";
/// Folder of the conversation folders in a store folder.
pub const CONVERSATIONS: &str = "mcp";
/// Settings of a store's root on the server.
pub const CONFIG: &str = "config.json";
/// Marker of demo mode in a store's root.
pub const ADMIN_HERE: &str = "admin.here";
/// Marker of a store closed for works.
pub const SHOP_LOCK: &str = "shop.lock";
/// List of stores in the program's home.
pub const STORES: &str = "stores.toml";
/// Whether agent applications ask before each call, in the program's home.
pub const AGENTS: &str = "agents.toml";
/// Who holds the program, in its home.
pub const DESK: &str = "desk.json";
/// Folder of texts that replace built-in rules, in the program's home.
pub const RULES: &str = "rules";
/// Saved passwords where the system has no keyring, in the program's home.
pub const CREDENTIALS: &str = "credentials";

/// Name of the token file of `login` on `day` (`YYYY-MM-DD`, UTC) below [`TOKENS`].
pub fn token_file(login: &str, day: &str) -> String {
    let login: String =
        login.chars().map(|c| if c.is_alphanumeric() || "-_.@".contains(c) { c } else { '_' }).collect();
    format!("{login}-{day}.lic")
}
