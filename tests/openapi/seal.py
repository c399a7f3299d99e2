"""Encryption of versions by TaskChampion's clients: PBKDF2, and ChaCha20-Poly1305 (RFC 8439)."""

import hashlib
import json
import os
import struct
import uuid

ROUNDS = 600_000


def derive_key(secret, client_id):
    return hashlib.pbkdf2_hmac("sha256", secret.encode(), uuid.UUID(client_id).bytes, ROUNDS, 32)


def seal_version(key, parent, operations):
    return seal(key, parent, json.dumps({"operations": operations}).encode())


def seal(key, version_id, text):
    nonce, place = os.urandom(12), b"\x01" + uuid.UUID(version_id).bytes
    one_time = _block(key, 0, nonce)[:32]
    stream = b"".join(_block(key, i + 1, nonce) for i in range((len(text) + 63) // 64))
    sealed = bytes(a ^ b for a, b in zip(text, stream))
    tag = _poly1305(one_time, _padded(place) + _padded(sealed) + struct.pack("<QQ", len(place), len(sealed)))
    return b"\x01" + nonce + sealed + tag


def _padded(data):
    return data + bytes(-len(data) % 16)


def _block(key, counter, nonce):
    start = list(struct.unpack("<16I", b"expand 32-byte k" + key + struct.pack("<I", counter) + nonce))
    state = start[:]

    def turn(a, b, c, d):
        for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            state[x] = (state[x] + state[y]) & 0xFFFFFFFF
            mixed = state[z] ^ state[x]
            state[z] = (mixed << bits | mixed >> (32 - bits)) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            turn(i, i + 4, i + 8, i + 12)
        for i in range(4):
            turn(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(start, state)))


def _poly1305(key, message):
    r = int.from_bytes(key[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    total = 0
    for i in range(0, len(message), 16):
        total = (total + int.from_bytes(message[i:i + 16] + b"\x01", "little")) * r % (2**130 - 5)
    return ((total + int.from_bytes(key[16:], "little")) % 2**128).to_bytes(16, "little")
