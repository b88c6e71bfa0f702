//! Which store a session works with.

use std::path::PathBuf;

use home::{Home, HomeError, ShopIni, StoreList};
use wire::{Fault, Stop, catalogue, paths};

use crate::StorePin;

/// The store folder of a session.
#[derive(Clone, Debug)]
pub(crate) struct StoreChoice {
    /// Name from the program's list of stores.
    pub(crate) name: String,
    /// The store folder, as the list spells it.
    pub(crate) folder: PathBuf,
    /// Whether the server is pinned to it.
    pub(crate) pinned: bool,
}

/// The program's list of stores.
pub(crate) fn stores(home: &Home) -> Result<StoreList, Stop> {
    home.stores().map_err(|error| {
        if matches!(error, HomeError::NoHome) {
            return catalogue::no_home().into();
        }
        let mend = "the person corrects that file, or removes it and opens the store in the program again";
        Fault::new(format!("the list of stores cannot be read: {error}; {mend}")).into()
    })
}

/// The pinned store, else the one the program opened last. See spec: session.md.
pub(crate) fn find(list: &StoreList, pin: Option<&StorePin>) -> Result<StoreChoice, Stop> {
    let wanted = match pin {
        Some(StorePin::NoFolder) => {
            return Err(catalogue::no_such_store("no folder is given after `--store`").into());
        }
        Some(StorePin::Folder(folder)) => Some(folder),
        None => list.last.as_ref(),
    };
    let entry = wanted.and_then(|folder| list.find(folder));
    match (entry, pin) {
        (Some(entry), pin) => {
            Ok(StoreChoice { name: entry.name.clone(), folder: entry.folder.clone(), pinned: pin.is_some() })
        }
        (None, Some(StorePin::Folder(folder))) => {
            let what = format!("`{}` is not in the program's list of stores", folder.display());
            Err(catalogue::no_such_store(&what).into())
        }
        (None, _) => Err(catalogue::no_store().into()),
    }
}

impl StoreChoice {
    /// The store's connection.
    pub(crate) fn connection(&self) -> Result<ShopIni, Stop> {
        Ok(ShopIni::read(&self.folder).map_err(|error| self.no_shop_ini(&error.to_string()))?)
    }

    /// The refusal of a connection file that cannot be used.
    pub(crate) fn no_shop_ini(&self, why: &str) -> wire::Refusal {
        let path = self.folder.join(paths::SHOP_INI);
        catalogue::no_shop_ini(&path.display().to_string(), &wire::text::quoted(why, 200))
    }

    /// The store as a refusal names it.
    pub(crate) fn in_words(&self) -> String {
        format!("{}, {}", self.name, self.folder.display())
    }
}
