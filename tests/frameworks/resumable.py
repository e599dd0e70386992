"""A training that writes checkpoints: resumable.py STORE MODE FOLDER. Started again with the same arguments it goes on from the last
one. It says which step it is at."""

import os
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader

import portolan.torch
from torch_model import Model, data

EXAMPLES, EPOCHS = 160, 4


def main():
    store, mode, folder = sys.argv[1:4]
    checkpoint = f"{folder}/last.pt"
    dataset = portolan.torch.WithIds(data(EXAMPLES))
    torch.manual_seed(5)
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    first = 0
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        torch.set_rng_state(state["random"])
        first = state["epoch"] + 1
    run = portolan.torch.open_run("run", model, store=store, mode=mode, resume=first > 0)
    loader = DataLoader(dataset, batch_size=16, shuffle=True)
    for epoch in range(first, EPOCHS):
        model.train()
        for step, (ids, x, y) in enumerate(loader):
            logits = model(x)
            if mode == "train-forward":
                run.log_logits(epoch, ids, logits, y)
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, y).backward()
            optimizer.step()
            print(f"step {epoch} {step}", flush=True)
        if mode == "epoch-end":
            portolan.torch.observe(run, model, loader, epoch)
        else:
            run.end_epoch(epoch)
        run.flush()  # what a checkpoint has seen is on disk before it is
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "random": torch.get_rng_state(), "epoch": epoch}
        torch.save(state, checkpoint + ".new")
        os.rename(checkpoint + ".new", checkpoint)
    run.close()


if __name__ == "__main__":
    main()
