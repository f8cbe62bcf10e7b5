//! Network cards of guests: which, and how they are attached.

use std::str::FromStr;

/// Cards of a guest at most.
const MOST: usize = 6;

/// What a card is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// A card of no make, whose wire has no rate.
    Virtio,
    /// Intel's 82574L, a card for 1 Gbit/s: its driver and its rate are those of a real one.
    E1000e,
}

impl Model {
    const ALL: [(&'static str, Self); 2] = [("virtio", Self::Virtio), ("e1000e", Self::E1000e)];

    /// The kernel module that drives it.
    pub const fn driver(self) -> &'static str {
        match self {
            Self::Virtio => "virtio_net",
            Self::E1000e => "e1000e",
        }
    }

    /// The device of QEMU that is this card.
    pub const fn device(self) -> &'static str {
        match self {
            // A bond of mode 802.3ad takes only members that tell a speed and full duplex; nothing is as fast here.
            Self::Virtio => "virtio-net-pci,speed=10000,duplex=full",
            Self::E1000e => "e1000e",
        }
    }
}

/// The cards of a guest, in the order of their names: `eth0` first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Nics(pub Vec<Model>);

impl FromStr for Nics {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut nics: Vec<Model> = Vec::new();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            // A bare number is one of cards of no make.
            let is_number = item.bytes().all(|byte| byte.is_ascii_digit());
            let (word, count) =
                if is_number { ("virtio", item) } else { item.split_once(':').unwrap_or((item, "1")) };
            let model = Model::ALL.iter().find(|(name, _)| *name == word).map(|(_, model)| *model);
            let model = model.ok_or_else(|| format!("'{word}' is no kind of card: virtio, e1000e"))?;
            let count: usize = count.parse().map_err(|_| format!("'{count}' is no number of cards"))?;
            // Cards get their names when their driver comes, so those of a kind stand together.
            if nics.contains(&model) && nics.last() != Some(&model) {
                return Err(format!("cards of kind {word} must stand together"));
            }
            if nics.len().saturating_add(count) > MOST {
                return Err(format!("at most {MOST} cards"));
            }
            nics.extend(std::iter::repeat_n(model, count));
        }
        Ok(Self(nics))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_are_a_number_or_kinds_with_counts() {
        assert_eq!("2".parse(), Ok(Nics(vec![Model::Virtio; 2])));
        assert_eq!("0".parse(), Ok(Nics::default()));
        assert_eq!("virtio,e1000e:2".parse(), Ok(Nics(vec![Model::Virtio, Model::E1000e, Model::E1000e])));
        for (text, why) in [
            ("ne2k:1", "no kind"),
            ("virtio:x", "no number"),
            ("7", "at most 6"),
            ("virtio,e1000e,virtio", "stand together"),
        ] {
            let error = text.parse::<Nics>().unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
