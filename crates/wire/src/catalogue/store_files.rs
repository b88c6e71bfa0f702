//! Rows of the catalogue: statics, pictures and groups of templates.

refusals! {
    // Tools for the store's files.
    /// A path that is none of a file that visitors get as it is.
    not_a_static(path: &str) Tool Agent
    "<path> is not a static file: statics lie in" "{path} is not a static file: statics lie in templates/<group>/statics/, beside templates and at the root.";
    "Names have Latin letters, digits, `_`, `-` and `.`; built bundles are made from their files."

    /// A static file that is there already.
    file_exists(name: &str) Tool Agent
    "File already exists: " "{name}.";
    ""

    /// A folder in which a new file shall lie and that is not there.
    folder_not_found(folder: &str) Tool Agent
    "Folder not found: " "{folder}.";
    "Make it first, with the tool whose name ends in `_dir_add`."

    /// A file that is no static of a group shall be in a bundle.
    bundle_in_template(path: &str) Tool Agent
    "Builds live in a template:" " {path} lies in no statics folder of one.";
    ""

    /// A file that cannot be a part of the bundle it is named for.
    not_bundled(path: &str, why: &str) Tool Agent
    "Can't include file to bundle: " "{path}: {why}.";
    ""

    /// A name and a place in one call.
    one_act() Tool Agent
    "One act at a time:" " a call gives another name or another folder, not both.";
    ""

    /// A folder to which something shall move and that is not there.
    no_such_folder(folder: &str) Tool Agent
    "No such folder: " "{folder}.";
    ""

    /// Nothing would change.
    same_path() Tool Agent
    "new_path is the same path" " as `path`.";
    ""

    /// A new name that no address can hold.
    new_plain_name(name: &str) Tool Agent
    "The last part of new_path must be a plain name." " Letters of Latin, digits, `_`, `-` and `.`; got {name}.";
    ""

    /// A picture that would be overwritten.
    image_there(path: &str) Tool Agent
    "<path> already exists, and uploading would overwrite it" "{path} already exists, and uploading would overwrite it.";
    "Say `overwrite: true`; its versions keep the former one."

    /// A picture without its content.
    give_source() Tool Agent
    "Give content_source" ", a file of this computer, or `content`, the text of an svg.";
    ""

    /// A picture that is not there.
    no_image(path: &str, similar: &str) Tool Agent
    "No such file in the images tree: " "{path}.{similar}";
    ""

    /// A folder where a file is meant.
    a_folder(path: &str) Tool Agent
    "<path> is a folder, not a file." "{path} is a folder, not a file.";
    ""

    /// A path outside of the images.
    not_an_image(path: &str) Tool Agent
    "<path> is not a file of the images tree" "{path} is not a file of the images tree, templates/<group>/images/.";
    ""

    /// A picture of this path is there already.
    image_exists(name: &str) Tool Agent
    "Image already exists: " "{name}.";
    ""

    /// A picture's name that no address can hold.
    plain_file_name(name: &str) Tool Agent
    "The last part of path must be a plain file name." " Letters of Latin, digits, `_`, `-` and `.`; got {name}.";
    ""

    /// A file or folder of this path is there already.
    folder_path_exists(path: &str) Tool Agent
    "<path> already exists." "{path} already exists.";
    ""

    /// A folder that is not there.
    no_tree_folder(tree: &str, path: &str) Tool Agent
    "No such folder in the " "{tree} tree: {path}.";
    ""

    /// A path that is no folder of statics or images.
    not_a_tree_folder(tree: &str, path: &str) Tool Agent
    "<path> is not a folder of the <tree> tree." "{path} is not a folder of the {tree} tree.";
    ""

    /// The folder of all statics or images of a group.
    tree_root(tree: &str, path: &str) Tool Agent
    "<path> is the <tree> root of a template" "{path} is the {tree} root of a template, and stays.";
    ""

    /// A folder would lie in itself.
    inside_itself() Tool Agent
    "A folder cannot be moved inside" " itself.";
    ""

    /// A folder of this name is there already.
    folder_exists(name: &str) Tool Agent
    "Folder already exists: " "{name}.";
    ""

    /// A folder's name that no address can hold.
    plain_name(name: &str) Tool Agent
    "The last part of path must be a plain name." " Letters of Latin, digits, `_` and `-`; got {name}.";
    ""

    /// A call for files without any.
    files_missing() Tool Agent
    "files is required:" " a list of objects.";
    ""

    /// An entry of a call for files that lacks what it needs.
    entry_needs(fields: &str) Tool Agent
    "Every entry needs " "{fields}.";
    ""

    /// Rows of such a table have no files.
    unknown_entity(entity: &str) Tool Agent
    "Unknown element entity: " "{entity}.";
    "It is the name of a table, like `products`."

    /// A row that is not there, or not any more.
    element_not_found(entity: &str, id: i64) Tool Agent
    "Element not found: " "{entity} id {id}.";
    ""

    /// A file that rows cannot have.
    not_an_element_file(name: &str, why: &str) Tool Agent
    "Not an image: " "{name} is not taken: {why}.";
    "Nothing of the call was added."

    /// A cache that there is not.
    cache_type(got: &str) Tool Agent
    "type is one of:" " cache, unit_cache, static; got {got}.";
    ""

    /// A cache of one unit, which is not named.
    unit_with_cache() Tool Agent
    "unit is required with unit_cache:" " the name of a unit.";
    ""

    /// A unit where none belongs.
    unit_only_with_cache() Tool Agent
    "unit goes only with unit_cache" ".";
    ""

    /// A unit that is not there.
    no_such_module(unit: &str) Tool Agent
    "No such module: " "{unit}.";
    ""

    /// A name that no group of templates can have.
    group_name(name: &str) Tool Agent
    "template is the name of a template group" ", of Latin letters, digits, `_` and `-`; got {name}.";
    ""

    /// A new name that no group of templates can have.
    group_new_name(name: &str) Tool Agent
    "new_template is" " the name of a template group, of Latin letters, digits, `_` and `-`; got {name}.";
    ""

    /// A group of templates that is there already.
    group_exists(group: &str) Tool Agent
    "Template group already exists: " "{group}.";
    ""

    /// The group that pages are made from.
    default_group(group: &str) Tool Owner
    "ACCESS_DENIED: " "{group} is the default template group of the store.";
    "The owner can name another one as `template` in the settings."
}
