"""Checks a case file with the standard library of Python and with openssl: verify_case.py case.zip policy [folder of the log]

The tests compare it with verify-case.mjs. It shares no code with the service. It prints "holds", or "refused: ..." with exit code 1.
"""
import base64, hashlib, json, pathlib, re, subprocess, sys, tempfile, zipfile

sha = lambda *parts: hashlib.sha256(b"".join(parts)).digest()


def check(fact, reason):
    if not fact:
        raise ValueError(reason)


def opened(note, policy):
    """The size and the root of a checkpoint that a key of the policy signed."""
    text, _, signatures = note.rpartition("\n\n")
    origin, size, root = text.split("\n")[:3]
    for name, key_id, key in re.findall(r"(?m)^log ([^+\s]+)\+([0-9a-f]{8})\+(\S+)", policy):
        key = base64.b64decode(key)
        check(sha(name.encode(), b"\n", key)[:4].hex() == key_id and key[0] == 1, "a key of the policy is wrong")
        for signer, signed in re.findall(r"(?m)^— (\S+) (\S+)\n", signatures):
            signed = base64.b64decode(signed, validate=True)
            if name != origin or signer != name or signed[:4].hex() != key_id:
                continue
            with tempfile.TemporaryDirectory() as folder:
                paths = [pathlib.Path(folder, part) for part in ("key", "text", "signature")]
                contents = (bytes.fromhex("302a300506032b6570032100") + key[1:], (text + "\n").encode(), signed[4:])
                for path, content in zip(paths, contents):
                    path.write_bytes(content)
                command = ["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-rawin"]
                command += ["-inkey", paths[0], "-in", paths[1], "-sigfile", paths[2]]
                check(subprocess.run(command, capture_output=True).returncode == 0, "the checkpoint has a wrong signature")
            return int(size), base64.b64decode(root, validate=True)
    raise ValueError("the checkpoint is not signed by a key of the policy")


def root_from(index, size, leaf, path):
    """RFC 6962, 2.1.1, from the leaf upwards."""
    if size == 1:
        return leaf if not path else None
    split = 1 << ((size - 1).bit_length() - 1)
    below = (index, split) if index < split else (index - split, size - split)
    own = root_from(*below, leaf, path[:-1]) if path else None
    return own and (sha(b"\1", own, path[-1]) if index < split else sha(b"\1", path[-1], own))


def main(case, policy, log=None):
    files = zipfile.ZipFile(case)
    names = files.namelist()
    allowed = r"(manifest\.json|checkpoint|policy|timeline\.(html|pdf)|verify(-case\.mjs|\.html)|events/\d+\.(json|tlog-proof)|documents/[\w.-]+)"
    check(len(names) == len(set(names)) and all(re.fullmatch(allowed, name) for name in names), "a file has a wrong name")
    note, policy = files.read("checkpoint").decode(), pathlib.Path(policy).read_text()
    size, root = opened(note, policy)
    manifest = json.loads(files.read("manifest.json"))
    tag, indexes, tagged = base64.b64decode(manifest["caseTag"]), manifest["events"], []
    check(manifest["checkpointSize"] == size, "the manifest has another checkpoint")
    check({f"events/{i}.{kind}" for i in indexes for kind in ("json", "tlog-proof")} == {n for n in names if n[:7] == "events/"}, "the manifest lists other events")
    for index in indexes:
        proof, _, own = files.read(f"events/{index}.tlog-proof").decode().partition("\n\n")
        head, place, *path = proof.split("\n")
        check((head, place, own) == ("c2sp.org/tlog-proof@v1", f"index {index}", note), f"the proof of {index} is not its own")
        path, digest = [base64.b64decode(line, validate=True) for line in path], sha(files.read(f"events/{index}.json"))
        found = [t for t in (tag, bytes(32)) if root_from(index, size, sha(b"\0", t, digest), path) == root]
        check(found, f"the event {index} is not in the tree")
        tagged += [index] if found[0] == tag else []
    if log:
        inside = []
        for bundle in range((size + 255) // 256):
            full = pathlib.Path(log, "tile/entries", f"{bundle:03d}")
            part = pathlib.Path(f"{full}.p", str(size - bundle * 256))
            content = (part if size < bundle * 256 + 256 and part.exists() else full).read_bytes()
            inside += [bundle * 256 + at // 66 for at in range(0, len(content), 66) if content[at + 2 : at + 34] == tag]
        check([index for index in inside if index < size] == tagged, "the log has other events of the case")


try:
    main(*sys.argv[1:])
    print("holds")
except (ValueError, KeyError, zipfile.BadZipFile) as error:
    sys.exit(print(f"refused: {error}") or 1)
