"""One rank of a job: ddp_train.py STORE MODE FOLDER [FIRST_EPOCH]. Four of them, two data-loader workers each, a dataset that they do not
divide. Rank 0 writes a checkpoint of each epoch."""

import os
import sys

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

import portolan.torch
from torch_model import Model, data

EXAMPLES, EPOCHS = 203, 3


def main():
    store, mode, folder = sys.argv[1:4]
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    torch.distributed.init_process_group("gloo")
    rank = torch.distributed.get_rank()
    torch.manual_seed(5)
    model = Model()
    if first:
        model.load_state_dict(torch.load(f"{folder}/{first - 1}.pt"))
    model = DistributedDataParallel(model)
    dataset = portolan.torch.WithIds(data(EXAMPLES))
    sampler = DistributedSampler(dataset, shuffle=True, seed=1)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler, num_workers=2, drop_last=False)
    run = portolan.torch.open_run("run", model, store=store, mode=mode, examples=EXAMPLES, resume=first > 0,
                                  if_exists=os.environ.get("IF_EXISTS"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(first, EPOCHS):
        sampler.set_epoch(epoch)
        model.train()
        for ids, x, y in loader:
            logits = model(x)
            if mode == "train-forward":
                run.log_logits(epoch, ids, logits, y)
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, y).backward()
            optimizer.step()
        if mode == "epoch-end":
            portolan.torch.observe(run, model, loader, epoch)
        else:
            run.end_epoch(epoch)
        if rank == 0:
            torch.save(model.module.state_dict(), f"{folder}/{epoch}.pt")
        if os.environ.get("DIE_AFTER") == str(epoch) and run.flush():
            torch.distributed.barrier()
            os._exit(1)
    run.close()
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
