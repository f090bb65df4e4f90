"""Facts about logs that are torn: the newest segment of each partition, and never the metadata log."""

from pathlib import Path

from pytest_kmigrate.model.topology import NodeSpec, Role
from pytest_kmigrate.providers.owned.disks.folders import torn


def test_the_newest_segment_of_each_partition_loses_its_end(tmp_path: Path) -> None:
    """As much as it has at most; its indexes are left, as after a power cut."""
    for name, size in (
        ("orders-0/00.log", 500),
        ("orders-0/42.log", 300),
        ("orders-0/42.index", 300),
        ("orders-1/00.log", 60),
        ("empty-0/00.log", 0),
        ("__cluster_metadata-0/00.log", 500),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    assert torn(tmp_path, NodeSpec("broker-0", Role.BROKER, 0, "3.9.1"), 100) == {
        "orders-0/42.log": 100,
        "orders-1/00.log": 60,
    }
    sizes = {str(each.relative_to(tmp_path)): each.stat().st_size for each in tmp_path.glob("*/*")}
    assert (sizes["orders-0/42.log"], sizes["orders-0/42.index"], sizes["orders-0/00.log"]) == (200, 300, 500)
    assert (sizes["orders-1/00.log"], sizes["__cluster_metadata-0/00.log"]) == (0, 500)
