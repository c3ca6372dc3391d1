"""Drafts put together and cut down: one tree of several proposals, and its likeliest part."""

from collections.abc import Sequence

from foredraft.core.types import ROOT, Draft


def merge(drafts: Sequence[Draft], chances: Sequence[Sequence[float]]) -> tuple[Draft, list[float]]:
    """One tree of unsampled proposals, with each node's chance given its parent.

    A token that several propose at one place becomes one node with the best of their chances.
    """
    tokens: list[int] = []
    parents: list[int] = []
    merged: list[float] = []
    known: dict[tuple[int, int], int] = {}
    for draft, of in zip(drafts, chances, strict=True):
        places = {ROOT: ROOT}
        for node, (token, parent) in enumerate(zip(draft.tokens, draft.parents, strict=True)):
            key = (places[parent], token)
            if key not in known:
                known[key] = len(tokens)
                tokens.append(token)
                parents.append(key[0])
                merged.append(0.0)
            places[node] = known[key]
            merged[known[key]] = max(merged[known[key]], of[node])
    source = "+".join(draft.source for draft in drafts if len(draft))
    return Draft(tuple(tokens), tuple(parents), None, source), merged


def depth(draft: Draft) -> int:
    """The positions of a draft: a chain's length, a tree's longest path."""
    depths: list[int] = []
    for parent in draft.parents:
        depths.append(1 if parent == ROOT else depths[parent] + 1)
    return max(depths, default=0)


def path_chances(draft: Draft, chances: Sequence[float]) -> list[float]:
    """P(a node and all its ancestors are accepted), for each node."""
    reached: list[float] = []
    for parent, chance in zip(draft.parents, chances, strict=True):
        reached.append(chance * (1.0 if parent == ROOT else reached[parent]))
    return reached


def likeliest(reached: Sequence[float]) -> list[int]:
    """The nodes by falling path chance, parents before children: each prefix is the best subtree
    of its size (OPT-Tree, 2406.17276)."""
    return sorted(range(len(reached)), key=lambda node: -reached[node])


def best_path(draft: Draft, chances: Sequence[float]) -> list[int]:
    """The nodes from the root down that take the likeliest child each time."""
    children, path, place = draft.children(), [], ROOT
    while place in children:
        place = max(children[place], key=lambda node: chances[node])
        path.append(place)
    return path


def subtree(draft: Draft, nodes: Sequence[int]) -> Draft:
    """The draft cut down to `nodes`, which must hold the parents of all it holds."""
    kept = sorted(nodes)
    places = {ROOT: ROOT} | {node: i for i, node in enumerate(kept)}
    return Draft(
        tuple(draft.tokens[node] for node in kept),
        tuple(places[draft.parents[node]] for node in kept),
        None if draft.q is None else [draft.q[node] for node in kept],
        draft.source,
        tuple(draft.evidence[node] for node in kept) if draft.evidence else (),
    )


def followed(draft: Draft, tokens: Sequence[int]) -> list[tuple[int, bool]]:
    """(node, whether the text took it) for every node the text `tokens` came by.

    Also judges a draft that was never verified, by what the text became.
    """
    children = draft.children()
    judged: list[tuple[int, bool]] = []
    place = ROOT
    for token in tokens:
        taken = None
        for node in children.get(place, ()):
            judged.append((node, draft.tokens[node] == token))
            taken = node if draft.tokens[node] == token else taken
        if taken is None:
            break
        place = taken
    return judged
