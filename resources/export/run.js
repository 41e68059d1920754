// Left and right arrow, or k and j, go from step to step. The page reads the same without this.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const way = { ArrowRight: 1, j: 1, ArrowLeft: -1, k: -1 }[event.key];
  if (!way || event.target.closest("pre, .film")) return;
  const steps = [...document.querySelectorAll("article.step")];
  const now = steps.findIndex((step) => "#" + step.id === location.hash);
  const next = steps[now < 0 ? 0 : Math.min(steps.length - 1, Math.max(0, now + way))];
  if (!next) return;
  event.preventDefault();
  location.hash = next.id;
  const frame = document.querySelector(`.film a[href="#${next.id}"]`);
  frame?.scrollIntoView({ block: "nearest", inline: "center" });
});
