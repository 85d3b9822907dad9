"""Which names of PyTorch and Python a candidate's `model.py` may use, and for what.

An allow-list: what is not here is computation until proven otherwise. The first tables judge the
text, `DISPATCHED` judges what really ran.
"""

from __future__ import annotations

ALLOCATING = frozenset(
    f"torch.{name}"
    for name in (
        "empty empty_like empty_strided zeros zeros_like ones ones_like full full_like tensor"
    ).split()
)
"""Functions that return a fresh tensor."""

VIEWING = frozenset(
    f"torch.{name}"
    for name in (
        "as_strided atleast_1d atleast_2d atleast_3d broadcast_to chunk diagonal flatten movedim"
        " moveaxis narrow permute ravel reshape select split squeeze swapaxes swapdims t transpose"
        " unbind unflatten unsqueeze view_as_complex view_as_real clone"
    ).split()
)
"""Functions that return the memory of their first argument, seen otherwise, or a plain copy."""

ASKING = frozenset(
    f"torch.{name}"
    for name in (
        "broadcast_shapes can_cast device dtype finfo get_default_dtype get_num_threads iinfo"
        " is_complex is_floating_point is_grad_enabled is_tensor numel promote_types result_type"
        " Size no_grad inference_mode enable_grad is_contiguous"
    ).split()
)
"""Functions that answer with something that is no tensor."""

TENSOR_ANSWERS = frozenset(
    (
        "size stride dim ndimension numel nelement element_size storage_offset data_ptr"
        " is_contiguous is_floating_point is_complex is_pinned get_device untyped_storage"
    ).split()
)
"""Methods of a tensor that answer with something that is no tensor."""

TENSOR_FACTS = frozenset(
    (
        "shape dtype device ndim layout requires_grad is_cuda is_cpu itemsize nbytes _version"
        " is_leaf is_sparse names"
    ).split()
)
"""Attributes of a tensor that are no tensors."""

TENSOR_VIEWS = frozenset(
    (
        "view view_as reshape reshape_as flatten ravel squeeze unsqueeze transpose permute t"
        " expand expand_as contiguous detach narrow select unbind split split_with_sizes chunk"
        " as_strided movedim moveaxis swapaxes swapdims unflatten diagonal unfold clone to float"
        " double int long type type_as cpu requires_grad_ squeeze_ unsqueeze_ adjoint tensor_split"
        " hsplit vsplit"
    ).split()
)
"""Methods that return the tensor's memory seen otherwise, a plain copy, or a cast."""

TENSOR_VIEW_FACTS = frozenset({"T", "mT", "H", "mH", "data", "real", "imag"})
"""Attributes that are views."""

TENSOR_FRESH = frozenset({"new_empty", "new_zeros", "new_full", "new_ones", "new_empty_strided"})
"""Methods that return a fresh tensor."""

TENSOR_FILLS = frozenset({"zero_", "fill_", "copy_", "resize_"})
"""Methods that set memory without computing; they return the tensor."""

MANY_VIEWS = frozenset("unbind split split_with_sizes chunk tensor_split hsplit vsplit".split())
"""Views that return several tensors."""

PLAIN_VALUES = frozenset(
    f"torch.{name}"
    for name in (
        "float float16 float32 float64 double half bfloat16 int int8 int16 int32 int64 long short"
        " uint8 bool complex64 complex128 Tensor Size dtype device strided contiguous_format"
        " preserve_format channels_last channels_last_3d inf nan pi e nn.Module nn.Parameter"
        " FloatTensor LongTensor"
    ).split()
) | frozenset({"math.pi", "math.inf", "math.nan", "math.e", "math.tau"})
"""Names that may stand as a value."""

BUILTINS = frozenset(
    (
        "abs all any bool dict divmod enumerate float frozenset hasattr int isinstance issubclass"
        " len list max min pow range repr reversed round set slice sorted str sum tuple type zip"
        " print id hash"
    ).split()
)
"""Built-in functions that may be called on plain values."""

BLIND_BUILTINS = frozenset(
    (
        "dict enumerate frozenset hasattr isinstance issubclass len list reversed set slice tuple"
        " type zip id range"
    ).split()
)
"""Of these, those that do not compute with a tensor that they are given."""

BANNED_NAMES = frozenset(
    (
        "getattr setattr delattr eval exec compile __import__ open input globals locals vars dir"
        " breakpoint memoryview classmethod property __builtins__ __loader__"
        " __spec__ exit quit"
    ).split()
)
"""Built-ins with which a text can do what it does not say."""

BANNED_ATTRIBUTES = frozenset(
    (
        "register_forward_hook register_forward_pre_hook register_full_backward_hook"
        " register_full_backward_pre_hook register_backward_hook register_state_dict_pre_hook"
        " register_module_forward_hook _forward_hooks _forward_pre_hooks _call_impl"
        " _wrapped_call_impl _backward_hooks share_memory_ numpy tolist item storage set_ map_"
        " apply_ register_hook _parameters _buffers _modules _observer"
    ).split()
)
"""Attributes with which work is hidden, or tensors reach Python as numbers."""

BANNED_PREFIXES = (
    "torch._",
    "torch.autograd",
    "torch.compile",
    "torch.compiler",
    "torch.fx",
    "torch.func",
    "torch.jit",
    "torch.library",
    "torch.multiprocessing",
    "torch.ops",
    "torch.overrides",
    "torch.set_",
    "torch.use_deterministic_algorithms",
    "torch.utils",
    "torch.vmap",
    "torch.classes",
    "torch.hub",
    "torch.load",
    "torch.save",
    "torch.from_file",
    "torch.frombuffer",
    "torch.os",
    "torch.sys",
    "torch.ctypes",
    "torch.importlib",
    "torch.inspect",
    "torch.builtins",
    "torch.threading",
    "torch.functools",
    "torch.platform",
)
"""Parts of PyTorch that are not for candidates."""

OPEN_IN_TORCH = frozenset({"nn", "Tensor", "Size"}) | {
    name.removeprefix("torch.") for name in PLAIN_VALUES if name.startswith("torch.")
}
"""Attributes of torch whose own attributes may be named."""

OPEN_IN_NN = frozenset({"init", "functional", "parameter", "Module", "Parameter"})
"""Attributes of torch.nn whose own attributes may be named."""

IMPORTS = frozenset(
    (
        "__future__ collections.abc kernel_ops math torch torch.nn torch.nn.functional typing"
        " torch.nn.init torch.nn.parameter dataclasses"
    ).split()
)
"""Modules that `model.py` may import."""

MODULE_METHODS = frozenset(
    (
        "train eval parameters named_parameters buffers named_buffers modules named_modules"
        " children named_children state_dict load_state_dict register_buffer register_parameter"
        " add_module register_module get_parameter get_buffer get_submodule to_empty zero_grad"
        " requires_grad_ to apply float double half type cpu _apply _named_members"
        " _load_from_state_dict _save_to_state_dict"
    ).split()
)
"""Methods of a module that the verifier calls, or that decide what it sees."""

LAYER_TENSOR = r"(?:in_proj_)?(?:weight|bias)(?:_\w+)?|running_\w+|num_batches_tracked|bias_[kv]"
"""Attributes of a layer that are its parameters or buffers."""

DISPATCHED = frozenset(
    f"aten::{name}"
    for name in (
        "_reshape_alias _to_copy _unsafe_view alias as_strided broadcast_to chunk clone contiguous"
        " copy_ detach diagonal empty empty_like empty_strided expand expand_as fill_ flatten full"
        " full_like is_pinned lift_fresh movedim narrow new_empty new_empty_strided new_full"
        " new_ones new_zeros ones ones_like permute ravel reshape resize_ select slice split"
        " split_with_sizes squeeze sym_size sym_stride sym_numel sym_storage_offset t transpose"
        " unbind unflatten unfold unsafe_chunk unsafe_split unsqueeze unsqueeze_ squeeze_ view"
        " detach_ view_as_complex view_as_real zero_ zeros zeros_like lift adjoint mT swapaxes"
    ).split()
)
"""PyTorch operators that may run inside a candidate's forward: allocation, views, plain copies."""
