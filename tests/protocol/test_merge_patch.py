"""Merge patches: what the standard says, and that a diff leads exactly from old to new."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocol.documents import documents, values
from towerhall_protocol import merge_patch
from towerhall_protocol.codec import canonical
from towerhall_protocol.merge_patch import apply, diff, same

Plain = dict[str, object]


@st.composite
def neighbours(draw: st.DrawFn) -> tuple[Plain, Plain]:
    """A document, and one that shares parts with it: some dropped, some replaced, some added."""
    old = draw(documents)
    return old, _changed(draw, old)


def _changed(draw: st.DrawFn, old: Plain) -> Plain:
    new: Plain = {}
    for key, value in old.items():
        match draw(st.sampled_from(["same", "equal", "drop", "replace", "enter"])):
            case "same":
                new[key] = value
            case "equal":
                new[key] = copy.deepcopy(value)
            case "replace":
                new[key] = draw(values)
            case "enter":
                new[key] = _changed(draw, value) if isinstance(value, dict) else draw(documents)
            case _:
                pass
    return new | draw(st.just({}) | documents)


pairs = st.tuples(documents, documents) | neighbours()


@given(pairs)
def test_a_diff_leads_from_old_to_new(pair: tuple[Plain, Plain]) -> None:
    old, new = pair
    assert canonical(apply(old, diff(old, new))) == canonical(new)


@given(pairs)
def test_a_diff_is_empty_exactly_if_nothing_changed(pair: tuple[Plain, Plain]) -> None:
    old, new = pair
    assert (diff(old, new) == {}) == same(old, new) == (canonical(old) == canonical(new))
    assert diff(old, old) == diff(new, copy.deepcopy(new)) == {}


@given(pairs)
def test_a_diff_holds_nothing_that_could_be_left_out(pair: tuple[Plain, Plain]) -> None:
    old, new = pair
    patch = diff(old, new)
    for smaller in _one_entry_less(patch):
        assert canonical(apply(old, smaller)) != canonical(new)


def _one_entry_less(patch: Plain) -> list[Plain]:
    smaller = []
    for key, value in patch.items():
        rest = {other: patch[other] for other in patch if other != key}
        smaller.append(rest)
        if isinstance(value, dict):
            smaller += [rest | {key: inner} for inner in _one_entry_less(value)]
    return smaller


@given(pairs)
def test_neither_function_changes_its_arguments(pair: tuple[Plain, Plain]) -> None:
    old, new = pair
    kept = copy.deepcopy((old, new))
    patch = diff(old, new)
    kept_patch = copy.deepcopy(patch)
    apply(old, patch)
    assert ((old, new), patch) == (kept, kept_patch)


@given(values, values)
def test_same_means_the_same_bytes(one: object, other: object) -> None:
    assert same(one, other) == (canonical(one) == canonical(other))
    assert same(one, copy.deepcopy(one))


APPENDIX_OF_RFC_7396: list[tuple[Plain, Plain, Plain]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("document", "patch", "expected"), APPENDIX_OF_RFC_7396)
def test_patches_apply_as_in_the_standard(document: Plain, patch: Plain, expected: Plain) -> None:
    assert apply(document, patch) == expected


SAME_TO_PYTHON: list[tuple[object, object]] = [(0, False), (1, True), (0, 0.0), (1, 1.0)]


@pytest.mark.parametrize(("one", "other"), SAME_TO_PYTHON)
def test_values_of_different_types_differ(one: object, other: object) -> None:
    for old, new in ((one, other), (other, one)):
        assert not same(old, new)
        assert not same([old], (new,))
        patch = diff({"a": old, "b": {"c": [old]}}, {"a": new, "b": {"c": [new]}})
        assert canonical(patch) == canonical({"a": new, "b": {"c": [new]}})


def test_a_list_and_a_tuple_are_the_same_array() -> None:
    assert diff({"a": [1, [2]]}, {"a": (1, (2,))}) == {}
    assert diff({"a": (1, 2)}, {"a": [1, 3]}) == {"a": [1, 3]}


@pytest.mark.parametrize(
    ("old", "new", "patch"),
    [
        ({}, {"a": {}}, {"a": {}}),
        ({"a": 1}, {"a": {}}, {"a": {}}),
        ({"a": {}}, {}, {"a": None}),
        ({"a": {"b": 1}}, {"a": {}}, {"a": {"b": None}}),
        ({"a": {"b": {}}}, {"a": {"b": {"c": {}}}}, {"a": {"b": {"c": {}}}}),
        ({"a": [{}]}, {"a": [{"b": 1}]}, {"a": [{"b": 1}]}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, {"a": {"c": 3}}),
    ],
)
def test_empty_maps_and_maps_in_lists(old: Plain, new: Plain, patch: Plain) -> None:
    assert diff(old, new) == patch
    assert apply(old, patch) == new


def test_untouched_parts_are_shared() -> None:
    old: Plain = {"a": {"b": [1]}, "c": {"d": {"e": 1}, "f": [2]}}
    new = apply(old, {"c": {"d": {"e": 2}}})
    assert new["a"] is old["a"]
    inner_old, inner_new = old["c"], new["c"]
    assert isinstance(inner_old, dict)
    assert isinstance(inner_new, dict)
    assert inner_new["f"] is inner_old["f"]
    assert inner_new["d"] is not inner_old["d"]


def test_a_diff_does_not_look_into_identical_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_into: list[object] = []

    def watched(old: Plain, new: Plain) -> Plain:
        looked_into.append(new)
        return diff(old, new)

    monkeypatch.setattr(merge_patch, "diff", watched)
    part = {"b": {"c": 1}}
    old, new = {"a": part, "d": {"e": 1}}, {"a": part, "d": {"e": 2}}
    assert watched(old, new) == {"d": {"e": 2}}
    assert looked_into == [new, {"e": 2}]


def test_parts_are_the_same_without_being_compared_if_they_are_one_object() -> None:
    class Unequal:
        def __eq__(self, other: object) -> bool:
            raise AssertionError("compared")

        __hash__ = None  # type: ignore[assignment]

    part = Unequal()
    assert same([part], (part,))
    assert diff({"a": part, "b": [part]}, {"a": part, "b": [part], "c": 1}) == {"c": 1}
