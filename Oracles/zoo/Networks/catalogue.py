"""The zoo: each network's name, how to make it with random weights, its example inputs and its feature names."""
import torch
from torch import nn

import architectures
import networks
from entries import Entry, Network, own, picture, settled, tokens


def classifier(name, size=224, **options):
    def make():
        import torchvision
        x = picture(size)
        module = getattr(torchvision.models, name)(weights=None, **options)
        return Network(settled(module, x), {"image": x}, ["scores"])
    return make


def vision_transformer():
    """ViT-B/16; torchvision starts its head with zeros, which would answer zeros."""
    import torchvision
    module = torchvision.models.vit_b_16(weights=None).eval()
    nn.init.normal_(module.heads.head.weight, 0.0, 0.05)
    return Network(module, {"image": picture(224)}, ["scores"])


def segmenter(name, size=256):
    def make():
        from torchvision.models import segmentation
        x = picture(size)
        module = getattr(segmentation, name)(weights=None, weights_backbone=None, num_classes=21)
        settled(module, x)
        return Network(networks.Picked(module, lambda result: result["out"]).eval(), {"image": x}, ["mask"])
    return make


def detector():
    x = picture(256)
    module = networks.Detector()
    settled(module.trunk, x)
    nn.init.normal_(module.head.weight, 0.0, 0.1)
    return Network(module.eval(), {"image": x}, ["boxes", "scores", "classes"])


def bert(length):
    def make():
        from transformers import BertConfig, BertModel
        module = BertModel(BertConfig(attn_implementation="eager")).eval()
        # The usual mask is the least float32, which is -inf in float16, and 0 · -inf is not a number.
        module.get_extended_attention_mask = lambda mask, *_, **__: (1.0 - mask[:, None, None, :].float()) * -10000.0
        mask = torch.ones(1, length, dtype=torch.int32)
        mask[:, length * 3 // 4:] = 0
        return Network(
            networks.Picked(module, lambda result: (result[0], result[1])).eval(),
            {"input_ids": tokens(length, 30000), "attention_mask": mask}, ["hidden", "pooled"])
    return make


def distilbert():
    from transformers import DistilBertConfig, DistilBertModel
    module = DistilBertModel(DistilBertConfig(attn_implementation="eager")).eval()
    length = 128

    class Masked(nn.Module):
        """The blocks with an additive mask: theirs fills with the least float32, which float16 cannot hold."""

        def __init__(self):
            super().__init__()
            self.embeddings, self.layers = module.embeddings, module.transformer.layer

        def forward(self, input_ids, attention_mask):
            x = self.embeddings(input_ids.long())
            mask = (1.0 - attention_mask[:, None, None, :].float()) * -10000.0
            for layer in self.layers:
                attention = layer.attention
                split = lambda y: y.reshape(1, length, attention.n_heads, -1).transpose(1, 2)
                query, key, value = split(attention.q_lin(x)), split(attention.k_lin(x)), split(attention.v_lin(x))
                weights = torch.softmax(query / query.shape[-1] ** 0.5 @ key.transpose(2, 3) + mask, -1)
                mixed = (weights @ value).transpose(1, 2).reshape(1, length, -1)
                x = layer.sa_layer_norm(attention.out_lin(mixed) + x)
                x = layer.output_layer_norm(layer.ffn(x) + x)
            return x

    mask = torch.ones(1, length, dtype=torch.int32)
    mask[:, 100:] = 0
    return Network(Masked().eval(), {"input_ids": tokens(length, 30000), "attention_mask": mask}, ["hidden"])


def gpt2(length=64):
    from transformers import GPT2Config, GPT2LMHeadModel
    module = GPT2LMHeadModel(GPT2Config(use_cache=False)).eval()
    return Network(
        networks.Picked(module, lambda result: result[0]).eval(), {"input_ids": tokens(length, 50000)}, ["logits"])


def gpt2_decode(past=63):
    from transformers import GPT2Config, GPT2LMHeadModel
    module = networks.DecodingStep(GPT2LMHeadModel(GPT2Config(use_cache=False))).eval()
    cache = lambda: torch.randn(12, 12, past, 64)
    return Network(
        module,
        {"token": tokens(1, 50000), "position": torch.full((1, 1), past, dtype=torch.int32), "keys": cache(),
         "values": cache()},
        ["logits", "new_keys", "new_values"])


def speech():
    return {"features": torch.randn(1, 1, 80, 200)}


def translator():
    return {"source": tokens(24, 4000), "target": tokens(20, 4000)}


def lstm():
    return networks.Tagger(nn.LSTM(128, 256, num_layers=2, bidirectional=True, batch_first=True))


def gru():
    return networks.Tagger(nn.GRU(128, 128, batch_first=True))


def sentence():
    return {"tokens": tokens(64, 5000)}


def one_layer():
    return Network(nn.Linear(8, 8).eval(), {"x": torch.rand(1, 8)}, ["y"])


# Small networks first: the first models are ready soon.
ZOO = {
    "one_layer": Entry(one_layer, onnx=True),
    "squeezenet1_1": Entry(classifier("squeezenet1_1"), onnx=True),
    "mobilenet_v2": Entry(classifier("mobilenet_v2"), onnx=True),
    "lstm_tagger": Entry(own(lstm, sentence, ["tags"]), onnx=True),
    "gru_tagger": Entry(own(gru, sentence, ["tags"]), onnx=True),
    "wavenet": Entry(own(networks.WaveNet, lambda: {"onehot": torch.rand(1, 256, 512)}, ["logits"]), onnx=True),
    "resnet50": Entry(classifier("resnet50"), onnx=True),
    "distilbert": Entry(distilbert, half_target="iOS17", onnx=True),
    "style_transfer": Entry(
        own(networks.StyleTransfer, lambda: {"image": picture(256, 255.0, 0.0)}, ["stylized"]), onnx=True),
    "efficientnet_b0": Entry(classifier("efficientnet_b0"), onnx=True),
    "unet": Entry(own(networks.UNet, lambda: {"image": picture(192)}, ["mask"]), onnx=True),
    "deep_speech": Entry(own(networks.DeepSpeech, speech, ["characters"]), onnx=True),
    "detector": Entry(detector, half_target="iOS17", set_outputs=True, onnx=True),
    "translator": Entry(own(networks.Translator, translator, ["logits"]), onnx=True),
    "bert_128": Entry(bert(128), onnx=True),
    "vit_b_16": Entry(vision_transformer, half_target="iOS18", onnx=True),
    "densenet121": Entry(classifier("densenet121"), onnx=True),
    "inception_v3": Entry(classifier("inception_v3", 299, aux_logits=False, init_weights=False), onnx=True),
    "gpt2": Entry(gpt2, onnx=True),
    "gpt2_decode": Entry(gpt2_decode, half_target="iOS18", onnx=True),
    "bert_16": Entry(bert(16), onnx=True),
    "deeplabv3_resnet50": Entry(segmenter("deeplabv3_resnet50"), onnx=True),
    "fcn_resnet50": Entry(segmenter("fcn_resnet50"), onnx=True),
    "vgg16": Entry(classifier("vgg16"), onnx=True),
    "bert_384": Entry(bert(384), onnx=True),
    **architectures.ZOO,
}
