// An agent of Stagehand.
//
// Tested with @browserbasehq/stagehand 3.7.3 on Node 20. Install it in a folder, copy this file there, and run:
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
