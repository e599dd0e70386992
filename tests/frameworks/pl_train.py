"""A LightningModule in several forms; a program that trains one: pl_train.py STORE MODE FOLDER [resume]."""

import logging
import os
import sys
import warnings

import lightning as L
import torch
from lightning.pytorch.callbacks import Callback, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader

import portolan.lightning
import portolan.torch
from torch_model import Model, data

EXAMPLES, EPOCHS = 90, 3

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Module(L.LightningModule):
    def __init__(self, gives="logits", lr=0.02):
        super().__init__()
        self.save_hyperparameters()
        self.net, self.gives = Model(), gives

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        ids, x, y = batch
        logits = self(x)
        loss = nn.functional.cross_entropy(logits, y)
        if self.gives == "loss":
            return loss
        if self.gives == "nothing" and batch_idx % 2:
            return None
        return {"loss": loss, "logits": logits.detach()} if self.gives != "dict" else {"loss": loss, "other": 1}

    def validation_step(self, batch, batch_idx):
        self(batch[1])

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)


def loader(workers=0, **options):
    return DataLoader(portolan.torch.WithIds(data(EXAMPLES)), batch_size=16, shuffle=True, num_workers=workers, **options)


def fit(folder, callbacks, module=None, loaders=None, ckpt_path=None, **options):
    L.seed_everything(7, verbose=False)
    module = module or Module()
    trainer = L.Trainer(max_epochs=EPOCHS, accelerator="cpu", logger=False, enable_progress_bar=False, enable_model_summary=False,
                        default_root_dir=folder, callbacks=callbacks, **{"devices": 1, **options})
    validation = loader() if options.get("num_sanity_val_steps", 2) else None
    trainer.fit(module, loaders if loaders is not None else loader(), validation, ckpt_path=ckpt_path)
    return module


class Steps(Callback):
    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        print(f"step {trainer.current_epoch} {batch_idx}", flush=True)


def main():
    store, mode, folder = sys.argv[1:4]
    checkpoints = ModelCheckpoint(folder, filename="{epoch}", save_top_k=-1, save_last=True, save_on_train_epoch_end=True)
    callback = portolan.lightning.PortolanCallback("run", mode=mode, store=store)
    path = f"{folder}/last.ckpt" if len(sys.argv) > 4 else None
    world = int(os.environ.get("WORLD_SIZE", "1"))
    fit(folder, [checkpoints, callback, Steps()], ckpt_path=path, devices=world, strategy="ddp" if world > 1 else "auto")


if __name__ == "__main__":
    main()
