import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 1, day 3: divergence")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 1, day 3: divergence

    A branch and its else: a warp whose threads differ goes both ways, one after the other, and in each the others
    wait. Move the neighbours that decide alike. From how many on does every warp go one way only, and is that true of
    every number above it?
    """)
    return


@app.cell
def _(mo):
    threads = mo.ui.slider(1, 128, value=64, label="threads of a block", show_value=True)
    alike = mo.ui.slider(1, 64, value=1, label="neighbours that decide alike", show_value=True)
    mo.vstack([threads, alike])
    return alike, threads


@app.cell
def _(alike, explore, image, mo, threads):
    picture = explore.branches(threads.value, alike.value)
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
