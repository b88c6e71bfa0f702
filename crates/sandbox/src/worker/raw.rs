//! What the interpreter's library leaves to its caller to be sure of: where bytecode is from, and that
//! nobody changes bytes while they are copied.
#![expect(unsafe_code, reason = "the library calls these unsafe; each block says why it is sound")]

use rquickjs::{ArrayBuffer, Ctx, Module, Result, TypedArray, module::Declared, qjs};

/// Loads a compiled module.
pub(super) fn load<'js>(ctx: &Ctx<'js>, bytecode: &[u8]) -> Result<Module<'js, Declared>> {
    // SAFETY: bytecode comes from the engine only, which takes it only from `compile` of a worker of the
    // same build that never ran a script; or from `compile` of this very process.
    unsafe { Module::load(ctx.clone(), bytecode) }
}

/// Counts the stack of an interpreter from here on: it may have been made elsewhere.
pub(super) fn begin_stack(ctx: &Ctx<'_>) {
    // SAFETY: the context lives, and with it its runtime, which nobody else uses meanwhile; only two numbers in it
    // are set.
    unsafe { qjs::JS_UpdateStackTop(qjs::JS_GetRuntime(ctx.as_raw().as_ptr())) }
}

/// Copies the bytes of a typed array; none if its buffer is gone.
pub(super) fn array_bytes(array: &TypedArray<'_, u8>) -> Vec<u8> {
    // SAFETY: the slice ends with this statement, and no script runs meanwhile.
    unsafe { array.as_bytes() }.unwrap_or_default().to_vec()
}

/// Copies the bytes of a buffer; none if it is gone.
pub(super) fn buffer_bytes(buffer: &ArrayBuffer<'_>) -> Vec<u8> {
    // SAFETY: the slice ends with this statement, and no script runs meanwhile.
    unsafe { buffer.as_bytes() }.unwrap_or_default().to_vec()
}
