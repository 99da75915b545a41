import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 5: memory hierarchy")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 5: memory hierarchy

    The first level with room for what is read again and again answers; the table of day 5 says how long a load waits
    for it. Loads that need each other go one at a time, others wait together. How many loads from device memory must
    be under way at a time to be done before a chain of loads from L1 is?
    """)
    return


@app.cell
def _(mo):
    kib = mo.ui.slider(steps=[16, 64, 256, 1024, 4096, 16384, 65536, 262144], value=256,
                       label="KiB, read again and again", show_value=True)
    at_once = mo.ui.slider(steps=[1, 2, 4, 8, 16, 32, 64], value=1, label="loads under way at a time", show_value=True)
    mo.vstack([kib, at_once])
    return at_once, kib


@app.cell
def _(at_once, explore, image, kib, mo):
    picture = explore.memory(kib.value, at_once.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
