/* Starts the episode of a MiniWoB++ page without a person, and keeps its result in place.

   Runs before the page's own scripts. Takes one argument: {origin, seed, mode, timed}.
   Leaves `read()` under Symbol.for("backstep.episode"), which tells how the episode stands. */
(settings) => {
  if (location.origin !== settings.origin || window.top !== window) return;
  const key = Symbol.for("backstep.episode");
  if (window[key]) {
    Object.assign(window[key].settings, settings);
    return;
  }
  const episode = { settings: { ...settings }, started: false, error: "" };
  Object.defineProperty(window, key, { value: episode });

  // What the judge shows must not reach a screenshot either. A style sheet of the document keeps the DOM as it is.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    "#reward-display, #sync-task-cover, #click-canvas, #attention-canvas, #reward-reason, #query-pretty .mode" +
      " { display: none !important }");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

  // The pages write rewards and expected values to the console.
  console.log = () => {};

  const start = () => {
    const { seed, mode, timed } = episode.settings;
    // The longest delay a timer takes, 24 days: a page that is not timed still needs its timer to accept an end.
    if (!timed) core.EPISODE_MAX_TIME = 2147483647;
    core.countdownTimer = () => {};
    core.setDataMode(mode);
    Math.seedrandom(seed);
    core.startEpisodeReal();
    // An ended page would cover itself and wait for START; without this it stays as the agent left it.
    core.startEpisode = () => {};
    episode.started = true;
  };
  window.addEventListener("load", () => {
    // The page's own onload handler comes after this listener and prepares what `start` needs.
    setTimeout(() => {
      try {
        start();
      } catch (error) {
        episode.error = String(error);
      }
    }, 0);
  });

  // A page may end with no number at all (button-delay, when far too late).
  const number = (reward) => (Number.isFinite(reward) ? reward : 0);
  episode.read = () => {
    if (!episode.started) return { started: false, error: episode.error };
    const said = core.getUtterance();
    return {
      started: true,
      error: "",
      ready: Boolean(WOB_TASK_READY),
      done: Boolean(WOB_DONE_GLOBAL),
      raw_reward: number(WOB_RAW_REWARD_GLOBAL),
      timed_reward: number(WOB_REWARD_GLOBAL),
      reason: WOB_REWARD_REASON === null || WOB_REWARD_REASON === undefined ? "" : String(WOB_REWARD_REASON),
      instruction: typeof said === "string" ? said : said.utterance,
    };
  };
}
