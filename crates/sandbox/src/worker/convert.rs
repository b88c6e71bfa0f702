//! Values of the script as plain data, and back.

use rquickjs::function::This;
use rquickjs::object::{Filter, Property};
use rquickjs::{Array, BigInt, Coerced, Ctx, FromJs, Function, IntoJs, Object, Result, Type, TypedArray};

use super::raw;
use crate::value::Value;

/// Past this a Number is no exact integer.
const EXACT: i64 = (1 << 53) - 1;

/// Why a value of the script does not cross.
pub(super) enum NoData {
    /// It is too much.
    TooMuch,
    /// It is no plain data.
    NotPlain(String),
    /// Reading it threw.
    Threw,
}

impl From<rquickjs::Error> for NoData {
    fn from(_: rquickjs::Error) -> Self {
        Self::Threw
    }
}

/// Makes a value of the script. Objects and lists are fresh, their fields are own data whatever their
/// names, and nothing that the script did to prototypes sees them.
pub(super) fn to_script<'js>(ctx: &Ctx<'js>, value: &Value) -> Result<rquickjs::Value<'js>> {
    Ok(match value {
        Value::Null => rquickjs::Value::new_null(ctx.clone()),
        Value::Bool(truth) => rquickjs::Value::new_bool(ctx.clone(), *truth),
        Value::Int(number) => integer(ctx, *number)?,
        Value::Float(number) => rquickjs::Value::new_number(ctx.clone(), *number),
        Value::Text(text) => rquickjs::String::from_str(ctx.clone(), text)?.into_value(),
        Value::Bytes(bytes) => TypedArray::<u8>::new_copy(ctx.clone(), bytes)?.into_value(),
        Value::List(items) => {
            let array = Array::new(ctx.clone())?.into_object();
            for (index, item) in (0_u32..).zip(items) {
                array.prop(
                    index,
                    Property::from(to_script(ctx, item)?).writable().enumerable().configurable(),
                )?;
            }
            array.into_value()
        }
        Value::Map(fields) => {
            let object = Object::new(ctx.clone())?;
            for (name, field) in fields {
                let field = to_script(ctx, field)?;
                object.prop(name.as_str(), Property::from(field).writable().enumerable().configurable())?;
            }
            object.into_value()
        }
    })
}

/// A Number where it is exact, a BigInt where it is not.
#[expect(clippy::cast_precision_loss, reason = "only numbers that a float holds exactly get there")]
fn integer<'js>(ctx: &Ctx<'js>, number: i64) -> Result<rquickjs::Value<'js>> {
    if let Ok(small) = i32::try_from(number) {
        return Ok(rquickjs::Value::new_int(ctx.clone(), small));
    }
    if (-EXACT..=EXACT).contains(&number) {
        return Ok(rquickjs::Value::new_float(ctx.clone(), number as f64));
    }
    BigInt::from_i64(ctx.clone(), number)?.into_js(ctx)
}

/// Reads values of the script, as `JSON.stringify` would see them, within a budget of memory.
pub(super) struct FromScript<'a, 'js> {
    ctx: &'a Ctx<'js>,
    left: u64,
}

impl<'a, 'js> FromScript<'a, 'js> {
    pub(super) fn new(ctx: &'a Ctx<'js>, budget: u64) -> Self {
        Self { ctx, left: budget }
    }

    /// Reads a value.
    pub(super) fn value(&mut self, value: &rquickjs::Value<'js>) -> std::result::Result<Value, NoData> {
        self.spend(size_of::<Value>())?;
        self.node(value, Value::DEPTH)
    }

    /// Reads the values of a list that the script cannot have touched: the rest parameter of ours.
    pub(super) fn args(&mut self, args: &Array<'js>) -> std::result::Result<Vec<Value>, NoData> {
        (0..args.len()).map(|index| self.value(&args.get(index)?)).collect()
    }

    fn spend(&mut self, bytes: usize) -> std::result::Result<(), NoData> {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(bytes).ok_or(NoData::TooMuch)?;
        Ok(())
    }

    fn node(&mut self, value: &rquickjs::Value<'js>, depth: u32) -> std::result::Result<Value, NoData> {
        Ok(match value.type_of() {
            Type::Undefined | Type::Null | Type::Uninitialized => Value::Null,
            Type::Bool => Value::Bool(value.as_bool().unwrap_or_default()),
            Type::Int => Value::Int(i64::from(value.as_int().unwrap_or_default())),
            Type::Float => number(value.as_float().unwrap_or_default()),
            Type::BigInt => self.big(value)?,
            Type::String => {
                let text = self.text(value)?;
                self.spend(text.len())?;
                Value::Text(text)
            }
            Type::Function | Type::Constructor => {
                return Err(NoData::NotPlain("it holds a function".to_owned()));
            }
            Type::Symbol => return Err(NoData::NotPlain("it holds a symbol".to_owned())),
            Type::Promise => return Err(NoData::NotPlain("it holds a promise; await it".to_owned())),
            _ => match value.as_object() {
                Some(object) => self.object(object, depth)?,
                None => return Err(NoData::NotPlain("it holds what is no data".to_owned())),
            },
        })
    }

    fn object(&mut self, object: &Object<'js>, depth: u32) -> std::result::Result<Value, NoData> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(NoData::NotPlain("it lies too deep, or in itself".to_owned()));
        };
        if let Some(array) = object.as_typed_array::<u8>() {
            self.spend(array.len())?;
            return Ok(Value::Bytes(raw::array_bytes(array)));
        }
        if let Some(buffer) = object.as_array_buffer() {
            self.spend(buffer.len())?;
            return Ok(Value::Bytes(raw::buffer_bytes(buffer)));
        }
        // Dates, and whatever else knows its plain form.
        if let Some(to_json) = object.get::<_, rquickjs::Value>("toJSON")?.as_function() {
            let plain: rquickjs::Value = to_json.call((This(object.clone()),))?;
            return self.node(&plain, depth);
        }
        match object.as_array() {
            Some(array) => self.list(array, depth),
            None => self.map(object, depth),
        }
    }

    fn list(&mut self, array: &Array<'js>, depth: u32) -> std::result::Result<Value, NoData> {
        // Not `array.len()`, which knows no length past 31 bits.
        let count: f64 = array.as_object().get("length")?;
        let count =
            number(count).as_int().and_then(|count| usize::try_from(count).ok()).ok_or(NoData::TooMuch)?;
        self.spend(size_of::<Value>().saturating_mul(count))?;
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            items.push(self.node(&array.get(index)?, depth)?);
        }
        Ok(Value::List(items))
    }

    fn map(&mut self, object: &Object<'js>, depth: u32) -> std::result::Result<Value, NoData> {
        let mut fields = Vec::new();
        for name in object.own_keys::<rquickjs::String>(Filter::new().string().enum_only()) {
            let name = name?;
            let field: rquickjs::Value = object.get(name.clone())?;
            if field.is_undefined() {
                continue;
            }
            let name = self.text(&name.into_value())?;
            self.spend(size_of::<(String, Value)>() + name.len())?;
            fields.push((name, self.node(&field, depth)?));
        }
        Ok(Value::Map(fields))
    }

    fn big(&self, value: &rquickjs::Value<'js>) -> std::result::Result<Value, NoData> {
        let Coerced(digits) = Coerced::<String>::from_js(self.ctx, value.clone())?;
        match digits.parse() {
            Ok(number) => Ok(Value::Int(number)),
            Err(_) => Err(NoData::NotPlain("it holds a number past 64 bits".to_owned())),
        }
    }

    /// A text; half a pair of surrogates becomes the replacement character.
    fn text(&self, value: &rquickjs::Value<'js>) -> std::result::Result<String, NoData> {
        let text = value.as_string().ok_or(NoData::Threw)?;
        match text.to_string() {
            Ok(text) => Ok(text),
            Err(rquickjs::Error::Utf8(_)) => {
                let class: Object = self.ctx.globals().get("String")?;
                let whole: Function = class.get::<_, Object>("prototype")?.get("toWellFormed")?;
                Ok(whole.call::<_, rquickjs::String>((This(value.clone()),))?.to_string()?)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A whole number where it is one exactly.
#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "checked to be exact")]
fn number(float: f64) -> Value {
    let whole =
        float.trunc() == float && float.abs() <= EXACT as f64 && !(float == 0.0 && float.is_sign_negative());
    if whole { Value::Int(float as i64) } else { Value::Float(float) }
}
