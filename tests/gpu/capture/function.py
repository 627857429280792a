"""A function that JAX compiles, and its gradient."""
import sys

import jax
import jax.numpy as jnp
import numpy
from shown import Loop, bits


def loss(weights, x):
    hidden = jnp.tanh(x @ weights)
    return jnp.mean((hidden / (1 + jnp.abs(hidden).sum(1, keepdims=True))) ** 2)


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
x = jax.random.normal(jax.random.key(0), (256, 64))
weights = jax.random.normal(jax.random.key(1), (64, 128))
step = jax.jit(lambda weights: weights - 0.1 * jax.grad(loss)(weights, x))
step(weights).block_until_ready()
with Loop():
    for _ in range(steps):
        weights = step(weights)
    weights.block_until_ready()
bits("weights", numpy.asarray(weights))
