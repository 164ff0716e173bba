"""Certificates for one test run: an authority, a server's on the loopback, and clients'."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import trustme
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path
    both: Path
    """Key and certificate in one file."""


class Authority:
    """An authority whose certificates lie in a folder."""

    def __init__(self, folder: Path) -> None:
        """Make it; `ca` is the file by which it is trusted."""
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._authority = trustme.CA()
        self.ca = folder / "ca.pem"
        self.ca.write_bytes(self._authority.cert_pem.bytes())

    def issue(self, name: str, *identities: str) -> Pair:
        """A certificate with this common name; without identities it is a client's."""
        issued = self._authority.issue_cert(*(identities or (f"{name}.client",)), common_name=name)
        # Java reads no other form of a key in PEM.
        key = load_pem_private_key(issued.private_key_pem.bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
        chain = b"".join(one.bytes() for one in issued.cert_chain_pems)
        pair = Pair(
            certificate=self._folder / f"{name}.pem",
            key=self._folder / f"{name}.key",
            both=self._folder / f"{name}.both.pem",
        )
        pair.certificate.write_bytes(chain)
        pair.key.write_bytes(key)
        pair.both.write_bytes(key + chain)
        return pair
