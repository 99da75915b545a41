import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 2, day 1: the roofline")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import plot
    from tools.models import roofline

    return image, mo, plot, roofline


@app.cell
def _(mo):
    mo.md("""
    # Week 2, day 1: the roofline

    Memory feeds arithmetic: twice the flops for each byte, twice the flops a second, up to the peak of arithmetic.
    With the 4800 GB/s and the 66.9 TFLOPS of an H200 in float32, from which intensity on does more bandwidth no longer
    help? How far does that move with the 989 TFLOPS that its tensor cores do in bfloat16?
    """)
    return


@app.cell
def _(mo):
    intensity = mo.ui.slider(steps=[2**power / 8 for power in range(16)], value=0.25,
                             label="intensity, flops a byte", show_value=True)
    bandwidth = mo.ui.slider(steps=[300, 900, 1555, 3352, 4800, 8000], value=4800,
                             label="bandwidth, GB/s", show_value=True)
    tflops = mo.ui.slider(steps=[8, 19.5, 66.9, 312, 989], value=66.9, label="peak, TFLOPS", show_value=True)
    mo.vstack([intensity, bandwidth, tflops])
    return bandwidth, intensity, tflops


@app.cell
def _(bandwidth, image, intensity, mo, plot, roofline, tflops):
    flops, moved = tflops.value * 1e12, bandwidth.value * 1e9
    reached = roofline.attainable(intensity.value, flops, moved) / 1e9
    roof = plot.roof([0.125, 4096], flops, moved)
    here = plot.Curve("here", ((intensity.value, reached),), plot.YOURS)
    curves = (plot.Curve("roof", roof.points, plot.LIMIT), here)
    heading = f"At most {reached / 1000:.4g} TFLOPS: bound by {roofline.bound(intensity.value, flops, moved)}"
    ridge = f"ridge: {roofline.ridge_point(flops, moved):.4g} flops a byte"
    panel = plot.Panel(ridge, "flops a byte", "GFLOP/s", curves)
    mo.Html(image(plot.svg(heading, [[panel]])))
    return


if __name__ == "__main__":
    app.run()
