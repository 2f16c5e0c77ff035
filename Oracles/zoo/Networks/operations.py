"""Operations of torchvision that coremltools does not convert by itself."""
import numpy as np
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil import register_torch_op
from coremltools.converters.mil.frontend.torch.ops import _get_inputs


@register_torch_op(torch_alias=["torchvision::roi_align"])
def roi_align(context, node):
    """ROI align of one picture: crops by bilinear interpolation at every sample, then the mean of each bin's samples.

    The samples of a bin lie at the middles of its parts, so that the crop's first one is half a part inside the box.
    Samples behind the last row or column, which ROI align takes from there, are 0 for crops from iOS 16 on: one row and
    column more hold the same.
    """
    features, boxes, scale, height, width, samples, aligned = (v for v in _get_inputs(context, node, expected=7))
    if features.shape[0] != 1 or aligned.val or samples.val < 1:
        raise NotImplementedError("ROI align of one picture, of stated samples and without 'aligned' only")
    high, wide, samples = int(height.val), int(width.val), int(samples.val)
    corners = mb.mul(x=mb.slice_by_index(x=boxes, begin=[0, 1], end=[0, 5], end_mask=[True, False]), y=np.float32(scale.val))
    first = mb.slice_by_index(x=corners, begin=[0, 0], end=[0, 2], end_mask=[True, False])
    last = mb.slice_by_index(x=corners, begin=[0, 2], end=[0, 4], end_mask=[True, False])
    extent = mb.maximum(x=mb.sub(x=last, y=first), y=np.float32(1.0))
    inset = mb.mul(x=extent, y=np.array([[0.5 / (samples * wide), 0.5 / (samples * high)]], np.float32))
    inner = mb.concat(values=[mb.add(x=first, y=inset), mb.sub(x=mb.add(x=first, y=extent), y=inset)], axis=1)
    wider = mb.pad(x=features, pad=[0, 1, 0, 1], mode="replicate")
    regions = mb.expand_dims(x=inner, axes=[1, 3, 4])
    crops = mb.crop_resize(
        x=wider, roi=regions, target_height=samples * high, target_width=samples * wide,
        box_coordinate_mode="CORNERS_WIDTH_FIRST", sampling_mode="STRICT_ALIGN_CORNERS")
    mean = mb.avg_pool(
        x=mb.squeeze(x=crops, axes=[1]), kernel_sizes=[samples] * 2, strides=[samples] * 2, pad_type="valid", name=node.name)
    context.add(mean)
