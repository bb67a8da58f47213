"""Which IP addresses may be asked on behalf of others. Pure: nothing is resolved or opened.

IPv6 is an allow-list: only global unicast, 2000::/3. This excludes site-local (fec0::/10), segment
routing (5f00::/16), the unspecified and the loopback address, and both old ways to write IPv4 in
IPv6 (::/96, ::ffff:0:0:0/96). Inside 2000::/3, and for IPv4, the lists below hold the ranges that
the special-purpose registries of IANA reserve. Python's own `is_global` is not used: it differs
between patch versions.

Two kinds of IPv6 address name an IPv4 host, and that host is judged: ::ffff:0:0/96 (a mapped
address) and 64:ff9b::/96 (the public prefix of NAT64, which a resolver of an IPv6-only network
answers with). A private NAT64 (64:ff9b:1::/48) leads into a network that this module cannot know.
Tunnels (6to4, Teredo) hand the packet to a foreign relay. All three are refused, with any IPv4
address in them.
"""

import ipaddress
from typing import Final, TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

GLOBAL_UNICAST: Final = ipaddress.IPv6Network("2000::/3")
NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")

SPECIAL_IPV4: Final = tuple(
    map(
        ipaddress.IPv4Network,
        (
            "0.0.0.0/8",  # this network
            "10.0.0.0/8",  # private
            "100.64.0.0/10",  # shared by customers of a provider
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local, where clouds have their metadata
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation
            "192.31.196.0/24",  # AS112, anycast
            "192.52.193.0/24",  # AMT relays, anycast
            "192.88.99.0/24",  # 6to4 relays, anycast
            "192.168.0.0/16",  # private
            "192.175.48.0/24",  # AS112, anycast
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, with the broadcast address
        ),
    )
)
SPECIAL_IPV6: Final = tuple(
    map(
        ipaddress.IPv6Network,
        (
            "2001::/23",  # protocol assignments: Teredo, ORCHID (2001:20::/28), benchmarks ...
            "2001:db8::/32",  # documentation
            "2002::/16",  # 6to4
            "2620:4f:8000::/48",  # AS112, anycast
            "3fff::/20",  # documentation
        ),
    )
)


def meant(address: Address) -> Address:
    """Return the IPv4 host that an IPv6 address names, or the address itself if it names none."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def is_public(address: Address) -> bool:
    """Whether an address, as `meant` returns it, is an ordinary host of the internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in SPECIAL_IPV4)
    return address in GLOBAL_UNICAST and not any(address in network for network in SPECIAL_IPV6)
