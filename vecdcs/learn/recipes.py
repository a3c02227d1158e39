"""Recipes: the numbers by which a model is learned, the default ones and those of the paper."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from math import log
from typing import Any

from vecdcs.errors import InputError

VARIANTS = ("full", "no-matrix", "no-inverse", "ud")


@dataclass(frozen=True)
class Recipe:
    """How to learn.

    `noise` chains are set against each path, its own if `private`, else shared with others of its micro-batch and
    together weighing `noise_mass`; with chance `whole` noise replaces a path's last word alone, else its matrices from
    a random one on as well. Of the former noise a micro-batch has `word_sets` sets, of the latter `chain_sets`, and
    each path meets one of them. Scores are taken as s - `shift`; noise is drawn by weight to the powers given. Rates
    fall linearly to 0 if `linear`; rates and parameters shrink as 1/(1 + rate * decay * uses) of each parameter; caps
    bound a step's sum for one parameter (for a matrix times √d, the norm of an orthogonal one). A `clip` above 0
    normalises all factors, gives each parameter its own logit, and cuts what stands on either side of it to that
    length. Vectors begin with a length of about `start`, matrices as (I + `spread` G)/2. If `orthogonal`, M^-1 = M^T
    exactly, else γ and κ weigh the two regularisers; if `still_arg`, the matrix of ARG is I. Paths from or to words
    whose share f of all is above `subsample` are kept with chance √(subsample/f); 0 keeps all. Walks end after
    `longest` edges. A step takes `batches` micro-batches of (at most) `paths` paths, all on the same parameters.
    """

    name: str
    noise: int
    private: bool
    word_sets: int
    chain_sets: int
    noise_mass: float
    whole: float
    shift: float
    word_power: float
    field_power: float
    vector_rate: float
    vector_decay: float
    vector_cap: float
    matrix_rate: float
    matrix_decay: float
    matrix_cap: float
    linear: bool
    clip: float
    start: float
    spread: float
    orthogonal: bool
    still_arg: bool
    gamma: float
    kappa: float
    subsample: float
    longest: int
    paths: int
    batches: int


DEFAULT = Recipe(
    name="default",
    noise=64,
    private=False,
    word_sets=16,
    chain_sets=2,
    noise_mass=5.0,
    whole=0.5,
    shift=0.0,
    word_power=0.75,
    field_power=0.75,
    vector_rate=0.1,
    vector_decay=0.0,
    vector_cap=2.0,
    matrix_rate=0.0001,
    matrix_decay=0.0,
    matrix_cap=0.05,
    linear=True,
    clip=0.0,
    start=0.2,
    spread=0.1,
    orthogonal=True,
    still_arg=True,
    gamma=0.0,
    kappa=0.0,
    subsample=0.0,
    longest=8,
    paths=2048,
    batches=4,
)

# Section 4 of the paper as the authors' program has it: 4 noise chains drawn by raw weight, σ(s - ln 4), normalised
# factors and own logits, decay by a parameter's own uses. Regularisers go down the paper's formulas; the authors' steps
# are half (γ) and a quarter (κ) of that. Caps are ours: the authors step after every path, not 4,096.
PAPER = Recipe(
    name="paper",
    noise=4,
    private=True,
    word_sets=1,
    chain_sets=1,
    noise_mass=4.0,
    whole=0.0,
    shift=log(4),
    word_power=1.0,
    field_power=1.0,
    vector_rate=0.1,
    vector_decay=1e-4,
    vector_cap=0.5,
    matrix_rate=0.0005,
    matrix_decay=1e-6,
    matrix_cap=0.05,
    linear=False,
    clip=2.0,
    start=1.0,
    spread=1.0,
    orthogonal=False,
    still_arg=False,
    gamma=1e-3,
    kappa=1e-4,
    subsample=0.0,
    longest=32,
    paths=2048,
    batches=2,
)

# For few words of which much is said, as in the small world: fields differ from the start, and learn faster.
DENSE = replace(DEFAULT, name="dense", spread=1.0, matrix_rate=0.002, still_arg=False)

RECIPES = {recipe.name: recipe for recipe in (DEFAULT, PAPER, DENSE)}


@dataclass(frozen=True)
class Plan:
    """Everything but the forest that a model depends on: the same plan and forest give the same bytes."""

    recipe: Recipe
    variant: str
    dim: int
    epochs: int
    seed: int

    @property
    def tied(self) -> bool:
        """Whether a field has one matrix, its transpose being the inverse."""
        return self.variant == "no-matrix" or (self.recipe.orthogonal and self.variant != "no-inverse")

    @property
    def gamma(self) -> float:
        return 0.0 if self.variant == "no-inverse" else self.recipe.gamma

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def plan(
    recipe: str = "default",
    variant: str = "full",
    dim: int = 250,
    epochs: int = 1,
    noise: int | None = None,
    seed: int = 1,
    rate: float | None = None,
    power: float | None = None,
) -> Plan:
    """A checked plan; `noise`, `rate` (of vectors, at first) and `power` (of noise words) are else the recipe's."""
    if recipe not in RECIPES:
        raise InputError(f"there is no recipe {recipe!r}; there are {', '.join(RECIPES)}")
    if variant not in VARIANTS:
        raise InputError(f"there is no variant {variant!r}; there are {', '.join(VARIANTS)}")
    for name, value, least in (("dim", dim, 1), ("epochs", epochs, 1), ("noise", noise, 1), ("seed", seed, 0)):
        if value is not None and value < least:
            raise InputError(f"{name} is {value}, but must be at least {least}")
    if rate is not None and not 0 < rate < float("inf"):
        raise InputError(f"rate is {rate}, but must be a number above 0")
    if power is not None and not 0 <= power <= 1:
        raise InputError(f"power is {power}, but must be between 0 and 1")
    chosen = RECIPES[recipe]
    if rate is not None:
        chosen = replace(chosen, vector_rate=rate)
    if power is not None:
        chosen = replace(chosen, word_power=power)
    if noise is not None:
        chosen = _against(chosen, noise)
    return Plan(chosen, variant, dim, epochs, seed)


def _against(recipe: Recipe, noise: int) -> Recipe:
    """The recipe with another number of noise chains; private ones come with a shift and a decay of their number."""
    if not recipe.private:
        return replace(recipe, noise=noise)
    decay = recipe.matrix_decay * (1 + recipe.noise) / (1 + noise)
    return replace(recipe, noise=noise, noise_mass=float(noise), shift=log(noise), matrix_decay=decay)
