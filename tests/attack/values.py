"""Hostile values, and small changes that make a good file a bad one."""

from random import Random

WHOLE = ("-1", "0", "1", "2", "3", f"{2**31}", f"{2**53}", f"{2**63 - 1}", f"{2**63}", f"-{2**63}", "1" + "0" * 20)
LONG = ("9" * 5000, "0x" + "f" * 5000, "1" + "_0" * 4400, "0b" + "1" * 20000)
FLOATS = ("0.0", "-0.0", "0.5", "1e-300", "1e38", "-1e38", "1e39", "1e300", "1e9999", "nan", "-nan", "inf", "-inf")
TEXTS = (
    *(
        '""',
        '"vaoi"',
        '"none"',
        '"auto"',
        '"iid"',
        '" "',
        '"…"',
        '"$\\\\frac$"',
        '"a\\u0000b"',
        '"two\\nlines"',
        "'\\'",
    ),
    *('"../../x"', '"/"', '"."', '"/dev/zero"', '"/dev/null"', '"pipe"', '"folder"', '"noise.bin"', '"\\u202Eolleh"'),
    *(
        '"\\u001b[31m"',
        '"[bold]"',
        '"[/]"',
        '"%s%n{0}{x}"',
        f'"{"x" * 70000}"',
        '"no_such:Thing"',
        '"json:loads"',
        '":"',
    ),
    *(
        '"a:"',
        '":b"',
        '"a:b:c"',
        '"..:x"',
        '"npz:"',
        '"npz:pipe"',
        '"npz:folder"',
        '"npz:/dev/zero"',
        '"npz:noise.bin"',
    ),
    *(
        '"fallow.policies.vaoi:VAoI"',
        '"numpy:zeros"',
        '"math:sqrt"',
        '"synthetic"',
        '"sensors"',
        '"paper-cnn"',
        '"mlp"',
    ),
)
OTHERS = (
    *(
        "true",
        "false",
        "[]",
        "[1]",
        "[1, 2]",
        "[0.5, 1]",
        '["a", "b"]',
        "[[1], [2]]",
        '[1, "a"]',
        "[nan]",
        "[true]",
        "{}",
    ),
    *("{ a = 1 }", '{ name = "vaoi" }', '[{ name = "x" }]', "[{}]", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z"),
    *(
        "0001-01-01",
        "2025-02-30",
        "[" * 3000,
        "[" * 40 + "]" * 40,
        "{a=" * 3000,
        "[" + "1," * 5000 + "]",
        "a.b",
        "=",
        "#",
    ),
    *("", '"""', "\n", "1\nclients = 5", "1\n[policy]", "\\", "\0", "\udcff", "é", "1 # a word"),
)
VALUES = (*WHOLE, *LONG, *FLOATS, *TEXTS, *OTHERS)


def change_bytes(content: bytes, chance: Random) -> bytes:
    """Returns a content with one to four small changes: cut, flipped, repeated, or with something put in."""
    changed = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(changed) + 1)
        match chance.randrange(5):
            case 0:
                del changed[place:]
            case 1 if changed:
                changed[place % len(changed)] ^= 1 << chance.randrange(8)
            case 2:
                changed[place:place] = changed[place : place + chance.randint(1, 40)]
            case 3:
                changed[place:place] = chance.choice(PUT_IN)
            case 4:
                del changed[place : place + chance.randint(1, 20)]
    return bytes(changed)


PUT_IN = (
    *(
        b"\0",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r\n",
        b"\n",
        b'"',
        b"'",
        b",",
        b";",
        b"=",
        b"[",
        b"]]",
        b"{",
        b"-",
    ),
    *(b"nan", b"inf", b"1e400", b"9" * 400, b"9" * 5000, b"x" * 200_000, b"\x1b[2J", "💧".encode(), b"\\", b"#", b"\t"),
)
