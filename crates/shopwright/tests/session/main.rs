//! Real processes under what a transcript cannot do to them: killed, stopped, cut off, raced, by-passed.

#[cfg(test)]
mod backup;
#[cfg(test)]
mod clear;
#[cfg(test)]
mod connect;
#[cfg(test)]
mod counts;
#[cfg(test)]
mod docs;
#[cfg(test)]
mod engine;
#[cfg(test)]
mod exchange;
#[cfg(test)]
mod from_outside;
#[cfg(test)]
mod gate;
#[cfg(test)]
mod goods_work;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod mcp_process;
#[cfg(test)]
mod migrate;
#[cfg(test)]
mod network;
#[cfg(test)]
mod own_tools;
#[cfg(test)]
mod passwords;
#[cfg(test)]
mod people_work;
#[cfg(test)]
mod program;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod seo_walk;
#[cfg(test)]
mod setup;
#[cfg(test)]
mod shop_work;
#[cfg(test)]
mod site;
#[cfg(test)]
mod store_contents;
#[cfg(test)]
mod tool_fields;
#[cfg(test)]
mod topics;
#[cfg(test)]
mod trying;
#[cfg(test)]
mod upkeep;
