//! The binary form of each message and of what it is made of.

use super::bytes::{Bad, Message, Reader, put_blob, put_length};
use super::{FromWorker, Request, Setup, ToWorker};
use crate::analysis::{Analysis, Import, Mention, Parameter, Signature, SyntaxError};
use crate::call::{CallError, HostError, Limit, Place};
use crate::protection::Protection;

/// A message that is its fields one after the other.
macro_rules! fields {
    ($($type:ident { $($field:ident),* })*) => {$(
        impl Message for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }

            fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
                Ok(Self { $($field: Message::take(bytes)?),* })
            }
        }
    )*};
}

fields! {
    SyntaxError { unit, line, column, text }
    Analysis { functions, imports, undeclared, unused, host }
    Signature { name, parameters, is_async, comment, line, column }
    Parameter { name, default }
    Import { module, names, line, column }
    Mention { name, line, column }
    Protection { seccomp, landlock, limits, no_new_privileges, missing }
    HostError { code, text, fatal }
    Place { unit, line, column, function }
    Setup { functions, facade }
}

impl<T: Message> Message for Box<T> {
    fn put(&self, out: &mut Vec<u8>) {
        T::put(self, out);
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        Ok(Self::new(T::take(bytes)?))
    }
}

impl Message for Limit {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Self::Memory => 0,
            Self::Time => 1,
            Self::Calls => 2,
            Self::Output => 3,
            Self::Depth => 4,
        });
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        Ok(match bytes.kind()? {
            0 => Self::Memory,
            1 => Self::Time,
            2 => Self::Calls,
            3 => Self::Output,
            4 => Self::Depth,
            _ => return Err(Bad::Kind),
        })
    }
}

/// A message that begins with its kind.
macro_rules! kinds {
    ($type:ident { $($kind:literal = $variant:ident { $($field:ident),* })* }) => {
        impl Message for $type {
            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Self::$variant { $($field),* } => {
                        out.push($kind);
                        $($field.put(out);)*
                    })*
                }
            }

            fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
                Ok(match bytes.kind()? {
                    $($kind => Self::$variant { $($field: Message::take(bytes)?),* },)*
                    _ => return Err(Bad::Kind),
                })
            }
        }
    };
}

kinds! { CallError {
    0 = NoFunction { unit, function }
    1 = NoModule { unit, name }
    2 = Exception { place, text, code, chain }
    3 = Limit { place, which, chain }
    4 = NeverSettles { unit, function }
    5 = NoData { unit, function, text }
    6 = WorkerLost { text }
}}

impl Message for Request {
    fn put(&self, out: &mut Vec<u8>) {
        put_length(self.modules.len(), out);
        for (name, bytecode) in &self.modules {
            name.put(out);
            put_blob(bytecode, out);
        }
        self.function.put(out);
        self.args.put(out);
        self.globals.put(out);
        self.memory.put(out);
        self.microseconds.put(out);
        self.calls.put(out);
        self.output.put(out);
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        let count = u32::take(bytes)?;
        let mut modules = Vec::new();
        for _ in 0..count {
            modules.push((String::take(bytes)?, bytes.blob()?.into()));
        }
        Ok(Self {
            modules,
            function: Message::take(bytes)?,
            args: Message::take(bytes)?,
            globals: Message::take(bytes)?,
            memory: Message::take(bytes)?,
            microseconds: Message::take(bytes)?,
            calls: Message::take(bytes)?,
            output: Message::take(bytes)?,
        })
    }
}

/// Appends a kind and what follows it.
fn kind(kind: u8, out: &mut Vec<u8>, body: &impl Message) {
    out.push(kind);
    body.put(out);
}

impl Message for ToWorker {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Setup(setup) => kind(0, out, setup),
            Self::Compile { name, source } => {
                kind(1, out, name);
                source.put(out);
            }
            Self::Analyse { name, source } => {
                kind(2, out, name);
                source.put(out);
            }
            Self::Call(request) => kind(3, out, request),
            Self::Answer(value) => kind(4, out, value),
            Self::Refuse(error) => kind(5, out, error),
            #[cfg(feature = "evil")]
            Self::Evil(what) => kind(6, out, what),
        }
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        Ok(match bytes.kind()? {
            0 => Self::Setup(Message::take(bytes)?),
            1 => Self::Compile { name: Message::take(bytes)?, source: Message::take(bytes)? },
            2 => Self::Analyse { name: Message::take(bytes)?, source: Message::take(bytes)? },
            3 => Self::Call(Message::take(bytes)?),
            4 => Self::Answer(Message::take(bytes)?),
            5 => Self::Refuse(Message::take(bytes)?),
            #[cfg(feature = "evil")]
            6 => Self::Evil(Message::take(bytes)?),
            _ => return Err(Bad::Kind),
        })
    }
}

impl Message for FromWorker {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Hello { version, protection } => {
                kind(0, out, version);
                protection.put(out);
            }
            Self::Ready(ready) => {
                out.push(1);
                ready.as_ref().err().cloned().put(out);
            }
            Self::Compiled { bytecode, imports, exports } => {
                out.push(2);
                put_blob(bytecode, out);
                imports.put(out);
                exports.put(out);
            }
            Self::Syntax(error) => {
                kind(3, out, error);
            }
            Self::Analysis(analysis) => {
                kind(4, out, analysis);
            }
            Self::HostCall { name, args } => {
                kind(5, out, name);
                args.put(out);
            }
            Self::Done(value) => {
                kind(6, out, value);
            }
            Self::Failed(error) => {
                kind(7, out, error);
            }
        }
    }

    fn take(bytes: &mut Reader<'_>) -> Result<Self, Bad> {
        Ok(match bytes.kind()? {
            0 => Self::Hello { version: Message::take(bytes)?, protection: Message::take(bytes)? },
            1 => Self::Ready(<Option<SyntaxError> as Message>::take(bytes)?.map_or(Ok(()), Err)),
            2 => Self::Compiled {
                bytecode: bytes.blob()?.to_vec(),
                imports: Message::take(bytes)?,
                exports: Message::take(bytes)?,
            },
            3 => Self::Syntax(Message::take(bytes)?),
            4 => Self::Analysis(Message::take(bytes)?),
            5 => Self::HostCall { name: Message::take(bytes)?, args: Message::take(bytes)? },
            6 => Self::Done(Message::take(bytes)?),
            7 => Self::Failed(Message::take(bytes)?),
            _ => return Err(Bad::Kind),
        })
    }
}
