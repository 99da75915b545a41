import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 3: blocks on multiprocessors")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 3: blocks on multiprocessors

    A block that finds no room waits for the next wave, and the last wave lasts as long as a full one. Here all blocks
    take the same time. With 4 multiprocessors that hold 2 blocks each, which numbers of blocks use every place, and
    at which number above 8 is the share lowest?
    """)
    return


@app.cell
def _(mo):
    blocks = mo.ui.slider(1, 48, value=12, label="blocks", show_value=True)
    sms = mo.ui.slider(2, 8, value=4, label="multiprocessors (SMs)", show_value=True)
    per_sm = mo.ui.slider(1, 4, value=2, label="blocks on each at a time", show_value=True)
    mo.vstack([blocks, sms, per_sm])
    return blocks, per_sm, sms


@app.cell
def _(blocks, explore, image, mo, per_sm, sms):
    picture = explore.waves(blocks.value, sms.value, per_sm.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
