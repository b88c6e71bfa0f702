//! Real processes under what a transcript cannot do to them: killed, stopped, cut off, raced, by-passed.

mod clear;
mod connect;
mod counts;
mod engine;
mod gate;
mod lines;
mod network;
mod program;
mod protocol;
mod provoked;
mod rules;
mod setup;
mod topics;
mod trying;
