import marimo

__generated_with = "0.25.2"
app = marimo.App(app_title="Week 2, kata: occupancy tuning")


@app.cell
def _():
    import marimo as mo

    from tools.notebook.widgets import image
    from tools.draw import plot
    from tools.models.chips import chip
    from tools.models.occupancy import occupancy

    return chip, image, mo, occupancy, plot


@app.cell
def _(mo):
    mo.md("""
    # Week 2, kata: how much is under way

    Floats under way on an SM are its threads times the loads that each has under way; the rate grows with them up to
    the peak. At first 8 floats a nanosecond and an answer after 600 nanoseconds, which need 4800. How few threads
    reach the peak with 4 and with 16 loads each, how many registers could each of these have, and which share of the
    peak do all 2048 threads reach with one load each?
    """)
    return


@app.cell
def _(mo):
    threads = mo.ui.slider(steps=[32, 64, 128, 256, 512, 768, 1024, 1536, 2048], value=512,
                           label="threads that live on an SM", show_value=True)
    each = mo.ui.slider(steps=[1, 2, 3, 4, 8, 12, 16, 32, 64], value=4,
                        label="loads under way, each thread", show_value=True)
    rate = mo.ui.slider(steps=[1, 2, 4, 6, 8, 9, 12, 16], value=8, label="floats a nanosecond for an SM",
                        show_value=True)
    latency = mo.ui.slider(100, 1500, step=100, value=600, label="nanoseconds until the answer", show_value=True)
    mo.vstack([threads, each, rate, latency])
    return each, latency, rate, threads


@app.cell
def _(chip, each, image, latency, mo, occupancy, plot, rate, threads):
    def reached(lanes, loads):
        return 100 * min(1, lanes * loads / (rate.value * latency.value))

    def curve(loads, kind):
        lanes = [32 * 2**power for power in range(7)]
        return plot.Curve(f"{loads} each", tuple((number, reached(number, loads)) for number in lanes), kind)

    limits = chip("h200").limits
    registers = max(number for number in range(1, 256)  # in blocks of two warps
                    if 32 * occupancy(limits, 2, number, 0).warps >= threads.value)
    here = plot.Curve("here", ((threads.value, reached(threads.value, each.value)),), plot.YOURS)
    others = tuple(curve(loads, plot.LIMIT if loads == each.value else plot.RIVAL)
                   for loads in sorted({1, 4, 16, each.value}))
    heading = (f"{reached(threads.value, each.value):.0f} % of the peak; each of {threads.value} threads can have "
               f"{registers} registers")
    panel = plot.Panel(f"{rate.value * latency.value} floats have to be under way", "threads that live on an SM",
                       "percent of the peak", (*others, here),
                       tuple((lanes, str(lanes)) for lanes in (32, 64, 128, 256, 512, 1024, 2048)))
    picture = plot.svg(heading, [[panel]])
    mo.Html(image(picture))
    return


if __name__ == "__main__":
    app.run()
