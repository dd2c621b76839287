#![no_std]
#![forbid(unsafe_code)]
//! @LINE@.

/// There is no vector with this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoVector<'a>(pub &'a str);

impl core::fmt::Display for NoVector<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "no vector {:?}: use the id of one in CORE or COMPLETE", self.0)
    }
}

/// The vector with that id, of whichever list.
pub fn by_id(id: &str) -> Result<&'static Utf8Vector, NoVector<'_>> {
    CORE.iter().chain(COMPLETE).find(|v| v.id == id).ok_or(NoVector(id))
}

/// The vectors, of both lists, that a strict decoder accepts or refuses wrongly, or decodes to another text.
pub fn failing<T: AsRef<str>, E>(
    decode: impl Fn(&'static [u8]) -> Result<T, E>,
) -> impl Iterator<Item = &'static Utf8Vector> {
    CORE.iter().chain(COMPLETE).filter(move |v| decode(v.octets).ok().as_ref().map(T::as_ref) != v.strict.ok())
}

