import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 3, day 6: tiled attention")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import explore

    return explore, image, mo


@app.cell
def _(mo):
    mo.md("""
    # Week 3, day 6: tiled attention

    All scores of one head: a row for each query, a column for each key. A program has some rows, and walks over its
    tiles from left to right; a causal mask hides what lies right of the steps. Make the tiles smaller: what becomes of
    the share that is skipped, and of the keys that are loaded?
    """)
    return


@app.cell
def _(mo):
    n_q = mo.ui.slider(1, 96, value=48, label="queries", show_value=True)
    n_k = mo.ui.slider(1, 96, value=48, label="keys", show_value=True)
    tile_m = mo.ui.slider(steps=[8, 16, 32, 64], value=16, label="queries of a tile", show_value=True)
    tile_n = mo.ui.slider(steps=[8, 16, 32, 64], value=16, label="keys of a tile", show_value=True)
    causal = mo.ui.slider(0, 1, value=1, label="causal", show_value=True)
    mo.vstack([n_q, n_k, tile_m, tile_n, causal])
    return causal, n_k, n_q, tile_m, tile_n


@app.cell
def _(causal, explore, image, mo, n_k, n_q, tile_m, tile_n):
    picture = explore.tiled_attention(n_q.value, n_k.value, tile_m.value, tile_n.value, bool(causal.value))
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
