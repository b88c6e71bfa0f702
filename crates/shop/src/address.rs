//! Lists of addresses that people may work from: single addresses, CIDR blocks, masks like `192.168.0-127.*`.

use core::net::{IpAddr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

use ipnet::IpNet;

/// A list of addresses. An empty list says nothing; what it means is the caller's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressList(Vec<AddressRule>);

impl AddressList {
    /// Reads the entries, one rule each. A blank entry is wrong: a list of nothing else would let everybody in.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, AddressError> {
        let entries = entries.iter().map(|entry| entry.as_ref().trim());
        entries.map(AddressRule::from_str).collect::<Result<_, _>>().map(Self)
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether any entry covers the address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|rule| rule.covers(address))
    }
}

/// The network of an address that one customer of a provider has: of IPv6 the first 64 bits, of IPv4 the address.
///
/// Whoever has one address of IPv6 has as many as they like, so what is counted or shared goes by the network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) >> 64 << 64)),
        v4 => v4,
    }
}

/// One entry of an address list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressRule {
    /// An address or a CIDR block.
    Block(IpNet),
    /// A range for each of an IPv4 address's four parts.
    Mask4([Range<u8>; 4]),
    /// A range for each of an IPv6 address's eight groups.
    Mask6([Range<u16>; 8]),
}

/// Both ends belong to the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range<T> {
    /// The least value.
    pub first: T,
    /// The greatest value.
    pub last: T,
}

impl<T: PartialOrd> Range<T> {
    fn holds(&self, value: &T) -> bool {
        self.first <= *value && *value <= self.last
    }
}

impl AddressRule {
    /// Whether the rule covers the address. IPv4 inside IPv6 (`::ffff:1.2.3.4`) counts as IPv4.
    pub fn covers(&self, address: IpAddr) -> bool {
        match (self, address.to_canonical()) {
            (Self::Block(block), address) => block.contains(&address),
            (Self::Mask4(parts), IpAddr::V4(address)) => {
                parts.iter().zip(address.octets()).all(|(range, part)| range.holds(&part))
            }
            (Self::Mask6(groups), IpAddr::V6(address)) => {
                groups.iter().zip(address.segments()).all(|(range, group)| range.holds(&group))
            }
            _ => false,
        }
    }
}

/// An entry that is no address, block or mask.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no address, no block like `10.0.0.0/8` and no mask like `192.168.0-127.*`")]
pub struct AddressError(String);

impl FromStr for AddressRule {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let text = text.trim();
        block(text)
            .or_else(|| mask4(text))
            .or_else(|| mask6(text))
            .ok_or_else(|| AddressError(text.chars().take(60).collect()))
    }
}

/// An address or a CIDR block, IPv4 inside IPv6 unwrapped.
fn block(text: &str) -> Option<AddressRule> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(AddressRule::Block(IpNet::from(address.to_canonical())));
    }
    let block: IpNet = text.parse().ok()?;
    if let IpNet::V6(v6) = block
        && let Some(v4) = v6.addr().to_ipv4_mapped()
        && v6.prefix_len() >= 96
    {
        return IpNet::new(IpAddr::V4(v4), v6.prefix_len() - 96).ok().map(AddressRule::Block);
    }
    Some(AddressRule::Block(block))
}

/// `192.168.0-127.*`; after a last `*` the parts that are missing are any.
fn mask4(text: &str) -> Option<AddressRule> {
    let mut parts = [Range { first: 0, last: u8::MAX }; 4];
    fill(&mut parts, text.split('.'), u8::MAX, |part| decimal(part)?.try_into().ok())?;
    Some(AddressRule::Mask4(parts))
}

/// `2001:db8:0-ff:*`; after a last `*` the groups that are missing are any.
fn mask6(text: &str) -> Option<AddressRule> {
    let mut groups = [Range { first: 0, last: u16::MAX }; 8];
    fill(&mut groups, text.split(':'), u16::MAX, hexadecimal)?;
    Some(AddressRule::Mask6(groups))
}

fn fill<'a, T: Copy + Default + PartialOrd>(
    ranges: &mut [Range<T>],
    mut parts: impl Iterator<Item = &'a str>,
    most: T,
    number: impl Fn(&str) -> Option<T>,
) -> Option<()> {
    let mut open_ended = false;
    for range in ranges.iter_mut() {
        let Some(part) = parts.next() else {
            return open_ended.then_some(());
        };
        open_ended = part == "*";
        *range = match part.split_once('-') {
            _ if open_ended => Range { first: T::default(), last: most },
            Some((first, last)) => Range { first: number(first)?, last: number(last)? },
            None => {
                let value = number(part)?;
                Range { first: value, last: value }
            }
        };
        if range.first > range.last {
            return None;
        }
    }
    parts.next().is_none().then_some(())
}

/// Decimal without sign or needless zeros: `010` means 8 to some programs and 10 to others.
fn decimal(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain && text.len() <= 3 { text.parse().ok() } else { None }
}

fn hexadecimal(text: &str) -> Option<u16> {
    let plain = text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if plain && text.len() <= 4 { u16::from_str_radix(text, 16).ok() } else { None }
}

impl fmt::Display for AddressRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(block) if block.prefix_len() == block.max_prefix_len() => block.addr().fmt(f),
            Self::Block(block) => block.fmt(f),
            Self::Mask4(parts) => write_mask(f, parts, ".", u8::MAX, |part| part.to_string()),
            Self::Mask6(groups) => write_mask(f, groups, ":", u16::MAX, |group| format!("{group:x}")),
        }
    }
}

fn write_mask<T: Copy + Default + PartialEq>(
    f: &mut fmt::Formatter<'_>,
    ranges: &[Range<T>],
    between: &str,
    most: T,
    number: impl Fn(T) -> String,
) -> fmt::Result {
    for (index, range) in ranges.iter().enumerate() {
        if index > 0 {
            f.write_str(between)?;
        }
        if range.first == T::default() && range.last == most {
            f.write_str("*")?;
        } else if range.first == range.last {
            f.write_str(&number(range.first))?;
        } else {
            write!(f, "{}-{}", number(range.first), number(range.last))?;
        }
    }
    Ok(())
}

/// The caller's address behind proxies: the nearest hop that is not trusted.
///
/// `peer` is who opened the connection, `forwarded` the values of `X-Forwarded-For` in the order they came.
/// Only a trusted peer's word counts, and of its list only what trusted hops added: anybody can write the rest.
/// A hop that is no address is somebody unknown, [`UNKNOWN`], and never the proxy that told it.
pub fn client_address<S: AsRef<str>>(peer: IpAddr, forwarded: &[S], trusted: &AddressList) -> IpAddr {
    let mut client = peer.to_canonical();
    let hops = forwarded.iter().flat_map(|value| value.as_ref().split(',')).rev();
    let mut hops = hops.filter(|hop| !hop.trim().is_empty());
    while trusted.contains(client) {
        let Some(hop) = hops.next() else { break };
        let Some(address) = hop_address(hop) else { return UNKNOWN };
        client = address;
    }
    client
}

/// The address of a caller whose address nobody could tell: nobody's.
pub const UNKNOWN: IpAddr = IpAddr::V6(Ipv6Addr::UNSPECIFIED);

/// An address in the forms proxies write: `1.2.3.4`, `1.2.3.4:5678`, `::1`, `[::1]:5678`.
fn hop_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let address = text.parse::<IpAddr>().ok().or_else(|| {
        let socket = text.parse::<core::net::SocketAddr>().ok().map(|socket| socket.ip());
        socket.or_else(|| text.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::V6))
    });
    address.map(|address| address.to_canonical())
}

/// Whether the address can only be this computer's own.
pub fn is_own_computer(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

#[cfg(test)]
mod tests;
