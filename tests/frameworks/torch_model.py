"""A small model and its data: with everything in it that an epoch-end pass could disturb."""

import torch
from torch import nn

CLASSES, FEATURES = 3, 8


class Model(nn.Module):
    def __init__(self, classes=CLASSES):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(FEATURES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.3))
        self.head = nn.Linear(16, classes)

    def forward(self, x):
        return self.head(self.body(x))


def data(n=120, seed=0, classes=CLASSES):
    generator = torch.Generator().manual_seed(seed)
    gold = torch.randint(0, classes, (n,), generator=generator)
    x = torch.randn(n, FEATURES, generator=generator)
    x[torch.arange(n), gold] += 1.5
    return torch.utils.data.TensorDataset(x, gold)
