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
    # Week 3, kata: who has how much to do

    A tile of rows has SPLIT programs, which share its blocks of keys. They are dealt to 132 SMs, one after another,
    and each adds its sums to the result. For 4096 rows and BLOCK_M = 128, from which SPLIT on has the busiest SM no
    fewer blocks, and how many numbers more are added at 128?
    """)
    return


@app.cell
def _(mo):
    rows = mo.ui.slider(steps=[1, 16, 64, 256, 1024, 2048, 2200, 4096], value=4096, label="rows of weights, m",
                        show_value=True)
    keys = mo.ui.slider(steps=[256, 1024, 4096, 16384, 65536, 262144], value=65536, label="keys, n", show_value=True)
    block_m = mo.ui.slider(steps=[16, 64, 128], value=16, label="BLOCK_M", show_value=True)
    block_n = mo.ui.slider(steps=[32, 64, 128], value=64, label="BLOCK_N", show_value=True)
    mo.vstack([rows, keys, block_m, block_n])
    return block_m, block_n, keys, rows


@app.cell
def _(block_m, block_n, image, keys, mo, plot, rows):
    tiles, blocks = len(range(0, rows.value, block_m.value)), len(range(0, keys.value, block_n.value))

    def busiest(split):
        """Blocks of keys that the SM with the most of them has."""
        programs = [len(range(program, blocks, split)) for program in range(split) for _ in range(tiles)]
        return max(sum(programs[sm::132]) for sm in range(132))

    splits = [2**power for power in range(8)]
    work = plot.Curve("blocks of keys", tuple((split, busiest(split)) for split in splits), plot.YOURS)
    added = plot.Curve("numbers added", tuple((split, 64 * rows.value * split) for split in splits[1:]))
    ticks = tuple((split, str(split)) for split in splits)
    picture = plot.svg(f"{tiles} tiles of rows, {blocks} blocks of keys, 64 columns of values", [[
        plot.Panel("the busiest of 132 SMs", "SPLIT", "blocks of keys", (work,), ticks),
        plot.Panel("all programs together", "SPLIT", "numbers added to the result", (added,), ticks)]])
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
