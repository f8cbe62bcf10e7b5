//! The root queueing discipline of an interface, as a text that sets it again (rtnetlink(7), linux/rtnetlink.h).
//!
//! The text is `default` where the kernel has chosen the discipline, else its kind and, in hexadecimal digits, its
//! options. Below a test root it is the file `/qdisc/NAME`.

use std::fmt::Write as _;

use rustix::io::Errno;

use crate::netlink::tc::{RTM_GETQDISC, TC_H_ROOT, TCA_KIND, TCA_OPTIONS, own};
use crate::netlink::{attribute, change, dump, interface_index, number};
use crate::root::{ReadError, SysRoot};

const RTM_NEWQDISC: u16 = 36;
const RTM_DELQDISC: u16 = 37;
const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_CREATE: u16 = 0x400;

const DEFAULT: &str = "default";

/// Kinds that take the options that they tell, and have neither classes nor filters.
const RESTORABLE: [&str; 7] = ["fq", "fq_codel", "codel", "pfifo", "bfifo", "pfifo_fast", "noqueue"];

/// The root discipline of `interface`, in the network namespace of the calling thread.
///
/// # Errors
/// `Garbage` for a discipline that the text could not set again, such as a shaper with its classes.
pub fn read(root: &SysRoot, interface: &str) -> Result<String, ReadError> {
    let path = format!("/qdisc/{interface}");
    if !root.is_live() {
        return root.text(path);
    }
    let told = |errno| match errno {
        Errno::NODEV => ReadError::Missing { path: path.clone() },
        errno => ReadError::Unreadable { path: path.clone(), errno },
    };
    let index = interface_index(interface).map_err(told)?;
    let all = dump(RTM_GETQDISC, &[0; 20]).map_err(told)?;
    text(all.iter().map(|message| message.body.as_slice()), index)
        .map_err(|kind| ReadError::garbage(&path, &kind, "a discipline that can be set again"))
}

/// The text of the root discipline of the interface `index` among the `bodies` of messages, or a kind that has none.
fn text<'b>(mut bodies: impl Iterator<Item = &'b [u8]>, index: u32) -> Result<String, String> {
    // `struct tcmsg`: interface, handle, parent.
    let is_root = |body: &&[u8]| number(body, 4) == Some(index) && number(body, 12) == Some(TC_H_ROOT);
    let Some(body) = bodies.find(is_root) else { return Ok(DEFAULT.to_owned()) };
    // What the kernel attaches by itself has no handle.
    if number(body, 8) == Some(0) {
        return Ok(DEFAULT.to_owned());
    }
    let kind = attribute(own(body), TCA_KIND).unwrap_or_default();
    let kind = String::from_utf8_lossy(kind.split(|byte| *byte == 0).next().unwrap_or_default()).into_owned();
    if !RESTORABLE.contains(&kind.as_str()) {
        return Err(kind);
    }
    let mut text = kind;
    for (at, byte) in attribute(own(body), TCA_OPTIONS).unwrap_or_default().iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{byte:02x}", if at == 0 { " " } else { "" });
    }
    Ok(text)
}

/// Sets the root discipline of `interface`, in the network namespace of the calling thread; needs `CAP_NET_ADMIN`.
///
/// # Errors
/// What the kernel answers: `NOENT` for a kind that it does not have.
pub fn set(root: &SysRoot, interface: &str, text: &str) -> Result<(), Errno> {
    if !root.is_live() {
        return root.write(format!("/qdisc/{interface}"), &format!("{text}\n"));
    }
    let (kind, options) = text.split_once(' ').unwrap_or((text, ""));
    let mut body = vec![0; 4];
    for word in [interface_index(interface)?, 0, TC_H_ROOT, 0] {
        body.extend_from_slice(&word.to_ne_bytes());
    }
    if kind == DEFAULT {
        return match change(RTM_DELQDISC, 0, &body) {
            // It is the default already.
            Err(Errno::NOENT | Errno::INVAL) if read(root, interface).as_deref() == Ok(DEFAULT) => Ok(()),
            done => done,
        };
    }
    put(&mut body, TCA_KIND, format!("{kind}\0").as_bytes());
    let options = bytes(options).ok_or(Errno::INVAL)?;
    if !options.is_empty() {
        put(&mut body, TCA_OPTIONS, &options);
    }
    change(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &body)
}

/// Adds an attribute, filled up to a multiple of four bytes.
fn put(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    body.extend_from_slice(&((value.len() + 4) as u16).to_ne_bytes());
    body.extend_from_slice(&kind.to_ne_bytes());
    body.extend_from_slice(value);
    body.resize(body.len().next_multiple_of(4), 0);
}

fn bytes(hexadecimal: &str) -> Option<Vec<u8>> {
    let pair = |at| u8::from_str_radix(hexadecimal.get(at..at + 2)?, 16).ok();
    (0..hexadecimal.len()).step_by(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlink::tests::made;

    fn body(index: u32, handle: u32, parent: u32, kind: &[u8], options: &[u8]) -> Vec<u8> {
        let mut body = vec![0; 4];
        for word in [index, handle, parent, 0] {
            body.extend_from_slice(&word.to_ne_bytes());
        }
        body.extend(made(TCA_KIND, kind));
        body.extend(made(TCA_OPTIONS, options));
        body
    }

    #[test]
    fn a_discipline_is_told_so_that_it_can_be_set_again() {
        let of = |bodies: &[Vec<u8>]| text(bodies.iter().map(Vec::as_slice), 7);
        let other = body(8, 0x10000, TC_H_ROOT, b"fq\0", &[1]);
        let child = body(7, 0x20000, 0x10001, b"fq\0", &[1]);
        assert_eq!(of(&[other.clone(), child]).as_deref(), Ok("default"));
        let default = body(7, 0, TC_H_ROOT, b"mq\0", &[]);
        assert_eq!(of(&[other.clone(), default]).as_deref(), Ok("default"));
        let fq = body(7, 0x10000, TC_H_ROOT, b"fq\0", &[8, 0, 1, 0, 16, 39, 0, 0]);
        assert_eq!(of(&[other.clone(), fq]).as_deref(), Ok("fq 0800010010270000"));
        let shaper = body(7, 0x10000, TC_H_ROOT, b"tbf\0", &[1, 2]);
        assert_eq!(of(&[other, shaper]), Err("tbf".to_owned()));
        assert_eq!(bytes("08ff"), Some(vec![8, 255]));
        assert_eq!((bytes(""), bytes("0"), bytes("zz")), (Some(Vec::new()), None, None));
    }

    /// In a network namespace of its own, on its loopback interface.
    #[test]
    fn the_kernel_takes_a_discipline_and_goes_back_to_the_one_before_with_its_options() {
        let in_namespace = || {
            if crate::netlink::tests::own_network().is_err() {
                return;
            }
            let root = SysRoot::live();
            let present = || read(&root, "lo").expect("told");
            assert_eq!(present(), DEFAULT);
            assert_eq!(set(&root, "lo", "pfifo 58000000"), Ok(()));
            assert_eq!(present(), "pfifo 58000000");
            assert_eq!(set(&root, "lo", "bfifo"), Ok(()));
            assert!(present().starts_with("bfifo "), "{}", present());
            assert_eq!(set(&root, "lo", "pfifo 58000000"), Ok(()));
            assert_eq!(present(), "pfifo 58000000");
            assert_eq!(set(&root, "lo", "no_such_kind"), Err(Errno::NOENT));
            for _ in 0..2 {
                assert_eq!(set(&root, "lo", DEFAULT), Ok(()));
                assert_eq!(present(), DEFAULT);
            }
            assert_eq!(set(&root, "warp0", "pfifo"), Err(Errno::NODEV));
            assert!(read(&root, "warp0").expect_err("no such interface").is_missing());
        };
        std::thread::spawn(in_namespace).join().expect("as it should be");
    }
}
