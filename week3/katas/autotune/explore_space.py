import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, kata: autotuning")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import plot

    return image, mo, plot


@app.cell
def _(mo):
    mo.md("""
    # Week 3, kata: what a cost model sees

    A launch takes as long as the longest of three limits, on 132 SMs with one program each at a time. At first one row
    of 65536 weights, and 64 columns of values: which SPLIT is best? For 4096 rows and BLOCK_M = 128, from which SPLIT
    on do more programs not help, and which limit is the longest there at 507 flops a nanosecond, which at 3748?
    """)
    return


@app.cell
def _(mo):
    rows = mo.ui.slider(steps=[1, 16, 64, 256, 1024, 2048, 2200, 4096], value=1, label="rows of weights, m",
                        show_value=True)
    keys = mo.ui.slider(steps=[256, 1024, 4096, 16384, 65536, 262144], value=65536, label="keys, n", show_value=True)
    block_m = mo.ui.slider(steps=[16, 64, 128], value=16, label="BLOCK_M", show_value=True)
    block_n = mo.ui.slider(steps=[32, 64, 128], value=64, label="BLOCK_N", show_value=True)
    stages = mo.ui.slider(2, 4, value=3, label="stages", show_value=True)
    flops = mo.ui.slider(steps=[507, 1249, 3748], value=507, show_value=True,
                         label="flops of an SM in a nanosecond (ieee, tf32x3, tf32)")
    mo.vstack([rows, keys, block_m, block_n, stages, flops])
    return block_m, block_n, flops, keys, rows, stages


@app.cell
def _(block_m, block_n, flops, image, keys, mo, plot, rows, stages):
    width, sms = 64, 132

    def up(value, unit):
        return -(-value // unit)

    def limits(split):
        rounds = up(up(rows.value, block_m.value) * split, sms)
        steps = up(up(keys.value, block_n.value), split)
        tile, step = 4 * block_m.value * width, 4 * block_n.value * (block_m.value + width)
        return (rounds * (steps * step + tile) / 36,
                rounds * steps * 2 * block_m.value * block_n.value * width / flops.value,
                rounds * up(steps, stages.value) * 600)

    splits = [2**power for power in range(8)]
    kinds = (plot.YOURS, plot.RIVAL, plot.LIMIT)
    curves = tuple(plot.Curve(name, tuple((split, limits(split)[number]) for split in splits), kinds[number])
                   for number, name in enumerate(("moving", "multiplying", "waiting")))
    best = min(splits, key=lambda split: max(limits(split)))
    heading = f"SPLIT = {best} is predicted best: {max(limits(best)):.0f} ns"
    panel = plot.Panel(f"{up(rows.value, block_m.value)} tiles, {up(keys.value, block_n.value)} blocks of keys",
                       "SPLIT", "nanoseconds", curves, tuple((split, str(split)) for split in splits))
    picture = plot.svg(heading, [[panel]])
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
