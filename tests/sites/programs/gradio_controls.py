"""Controls of Gradio, each of which tells one text what it has come to; the argument is the port."""

import sys
from pathlib import Path

import gradio

with gradio.Blocks(analytics_enabled=False) as page:
    said = gradio.Textbox(label="Said")
    controls = [
        gradio.Checkbox(label="I agree"),
        gradio.Radio(["Small", "Medium"], label="Size"),
        gradio.CheckboxGroup(["Milk", "Sugar"], label="With"),
        gradio.Slider(0, 100, value=30, step=1, label="Volume"),
        gradio.Dropdown(["Apple", "Pear", "Plum"], value="Apple", label="Fruit"),
        gradio.Textbox(label="Name"),
        gradio.Number(label="Count", value=3),
    ]
    for control in controls:
        control.change(lambda value, name=control.label: f"{name}: {value}", control, said)
    picture = gradio.File(label="Picture")
    picture.upload(lambda path: f"Picture: {Path(path).name}", picture, said)
    button = gradio.UploadButton("Attach")
    button.upload(lambda path: f"Attach: {Path(path).name}", button, said)
    gradio.Button("Press me").click(lambda: "pressed", None, said)
    with gradio.Accordion("More", open=False):
        gradio.Markdown("The rest of it")
    with gradio.Tab("First"):
        gradio.Markdown("The first part")
    with gradio.Tab("Second"):
        gradio.Markdown("The second part")
page.launch(server_name="127.0.0.1", server_port=int(sys.argv[1]), quiet=True)
