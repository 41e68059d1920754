"""Controls of Streamlit, each with what it has come to beside it."""

import streamlit

told = {
    "agree": streamlit.checkbox("I agree"),
    "wifi": streamlit.toggle("Wifi"),
    "size": streamlit.radio("Size", ["Small", "Medium"]),
    "volume": streamlit.slider("Volume", 0, 100, 30),
    "fruit": streamlit.selectbox("Fruit", ["Apple", "Pear", "Plum"]),
    "films": streamlit.multiselect("Films", ["Alien", "Brazil"]),
    "name": streamlit.text_input("Name"),
    "note": streamlit.text_area("Note"),
    "count": streamlit.number_input("Count", value=3),
    "day": streamlit.date_input("Day", value=None),
    "pressed": streamlit.button("Press me"),
}
file = streamlit.file_uploader("Picture")
told["file"] = file.name if file else ""
with streamlit.expander("More"):
    streamlit.write("The rest of it")
first, second = streamlit.tabs(["First", "Second"])
first.write("The first part")
second.write("The second part")
for name, value in told.items():
    streamlit.text(f"{name}={value}")
