"""Facts about what classes of a release say: each wrong one is noticed."""

from pytest_kmigrate.distributions.class_files import JavaClass, Member
from pytest_kmigrate.documents.kip_778 import java_api

UPGRADE_TYPE = "(SLorg/apache/kafka/clients/admin/FeatureUpdate$UpgradeType;)V"


def member(name: str, descriptor: str = "()V", **more: object) -> Member:
    """A public member."""
    given = {"is_public": True, "is_deprecated": False, "is_constant": False, **more}
    return Member(name, descriptor, **given)  # type: ignore[arg-type]


def levels(latest: str) -> JavaClass:
    """Three levels, of which one is the latest for production."""
    constants = tuple(member(each, "L", is_constant=True) for each in ("IBP_3_8_IV0", "IBP_3_9_IV0", "IBP_4_0_IV0"))
    return JavaClass(constants, (member("<clinit>", sets_static=(("LATEST_PRODUCTION", latest),)),))


def test_levels_above_the_latest_for_production_are_not_stable() -> None:
    """By the names that operators use; none where a release names no latest one."""
    assert java_api.levels_not_yet_stable(levels("IBP_3_8_IV0")) == ["3.9-IV0", "4.0-IV0"]
    assert java_api.levels_not_yet_stable(levels("IBP_4_0_IV0")) == []
    assert java_api.levels_not_yet_stable(JavaClass(levels("").fields, ())) == []


def test_constructors_are_named_by_what_they_take() -> None:
    """And a constructor that lost its mark, or is gone, differs."""
    both = (member("<init>", "(SZ)V", is_deprecated=True), member("<init>", UPGRADE_TYPE))
    assert java_api.constructors(JavaClass((), both)) == {"short, boolean": "deprecated", "short, UpgradeType": "kept"}
    assert java_api.constructors(JavaClass((), both[1:])) == {"short, UpgradeType": "kept"}


def test_what_the_old_constructor_makes_of_a_boolean() -> None:
    """One type for both, as the document prints it, is one name."""
    old = member("<init>", "(SZ)V", reads=("SAFE_DOWNGRADE", "UPGRADE"))
    assert java_api.types_of_old_constructor(JavaClass((), (old,))) == ["SAFE_DOWNGRADE", "UPGRADE"]
    same = member("<init>", "(SZ)V", reads=("SAFE", "SAFE"))
    assert java_api.types_of_old_constructor(JavaClass((), (same,))) == ["SAFE"]


def test_a_switch_is_off_only_if_the_constructor_sets_it_so() -> None:
    """It needs a method that reads it and one that sets it."""
    methods = (member("dryRun", "()Z"), member("dryRun", "(Z)LOptions;"), member("other", "()Z"))
    off = JavaClass((), (member("<init>", falsifies=("dryRun",)), *methods))
    assert java_api.switches_off_by_default(off) == ["dryRun"]
    assert java_api.switches_off_by_default(JavaClass((), (member("<init>"), *methods))) == []
