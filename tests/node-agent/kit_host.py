"""A recorded host of the fixture kit as a directory an agent can read: /proc, /sys and / of another machine.

A checkout may keep symbolic links as small files that hold their target; they are made links again in the copy.
"""
import os, pathlib, shutil


def restore_links(root):
    for path in sorted(root.rglob('*')):
        if path.is_symlink() or not path.is_file() or path.stat().st_size > 300:
            continue
        text = path.read_bytes()
        relative = text.startswith(b'../') or path == root / 'proc' / 'self'
        if not relative or b'\n' in text:
            continue
        target = text.decode()
        if not (path.parent / target).exists():
            continue
        path.unlink()
        path.symlink_to(target)


def copy_host(kit, root, *layers):
    """Copies hosts/LAYER… one over the other into `root`, writable."""
    root = pathlib.Path(root)
    for layer in layers:
        shutil.copytree(pathlib.Path(kit) / 'hosts' / layer, root, dirs_exist_ok=True)
        for path in root.rglob('*'):
            if not path.is_symlink():
                os.chmod(path, 0o755 if path.is_dir() else 0o644)
    for _ in range(3):      # links through links
        restore_links(root)
    return root
