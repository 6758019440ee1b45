"""What `nest.load` gives for PyTorch: the model's root module, with all that a loaded model has."""

from __future__ import annotations

from typing import Any

from torch import nn

from linnet.backends.torch.tree import shown


def hand_out(module: nn.Module, model: Any) -> nn.Module:
    """`module` as the face of `model`: its entries are methods that check what they are given."""
    module.__class__ = _face(type(module), model)
    return module


def _face(root: type[nn.Module], model: Any) -> type[nn.Module]:
    """A class of `root` whose entries are those of `model`, with what else a model has."""

    def missing(self: nn.Module, name: str) -> Any:
        try:
            return root.__getattr__(self, name)
        except AttributeError:
            if name.startswith("_") or not hasattr(model, name):
                raise
            return getattr(model, name)

    def reduced(self: nn.Module, protocol: Any) -> Any:
        return model.__reduce_ex__(protocol)

    def over(new: type[nn.Module]) -> type[nn.Module]:
        return _face(new, model)

    members: dict[str, Any] = {
        "__getattr__": missing,
        "__reduce_ex__": reduced,
        "__repr__": shown,
        "__doc__": None,
        "__module__": root.__module__,
        "linnet_face": staticmethod(over),
        "forward": _entry(model, model.card.entry),
    }
    own = set(dir(nn.Module)) - {"forward"}
    members |= {e: _entry(model, e) for e in model.entries if e not in own}
    return type(root.__name__, (root,), members)


def _entry(model: Any, name: str) -> Any:
    def run(self: nn.Module, *args: Any, **named: Any) -> Any:
        return model.run(name, args, named)

    run.__name__ = name
    return run
