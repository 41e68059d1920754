// An agent of Stagehand.
//
// Tried with @browserbasehq/stagehand 3.7.3 on Node 20, in a folder where it is installed and this file is copied to, as
//
//     python3 main.py attach --task shop/goal-004 -- node stagehand_agent.mjs

import { Stagehand } from "@browserbasehq/stagehand";

const version = await fetch(`${process.env.BACKSTEP_CDP_URL}/json/version`);
const { webSocketDebuggerUrl } = await version.json();
const stagehand = new Stagehand({
  env: "LOCAL",
  localBrowserLaunchOptions: { cdpUrl: webSocketDebuggerUrl },
  model: "openai/chosen-in-backstep",
});
await stagehand.init();
const result = await stagehand.agent().execute({ instruction: process.env.BACKSTEP_TASK, maxSteps: 20 });
console.log(result.message);
await stagehand.close();
