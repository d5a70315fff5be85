/** The style of log-in, invitation and error pages: one narrow column, light and dark. */
export const CONSOLE_STYLE = `
:root { color-scheme: light dark;
  --text: light-dark(#1b1f24, #e4e8ee); --soft: light-dark(#57606a, #a0a9b6); --page: light-dark(#f5f7f9, #14171c);
  --panel: light-dark(#fff, #1c2128); --line: light-dark(#8a939d, #6b7480); --link: light-dark(#0b57b0, #7ab4ff);
  --wrong: light-dark(#a8201a, #ff948c); }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--page); }
main { max-width: 26rem; margin: 10vh auto 2rem; padding: 1.5rem; background: var(--panel); border-radius: 10px; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; line-height: 1.25; }
h2 { margin: 1.25rem 0 .5rem; font-size: 1.05rem; }
p { margin: .75rem 0; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1rem; margin: .5rem 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
.soft { color: var(--soft); font-size: .9rem; }
input { width: 100%; padding: .55rem .6rem; font: inherit; color: inherit; background: var(--page); border: 1px solid var(--line); border-radius: 6px; }
input[aria-invalid=true] { border-color: var(--wrong); }
button { margin-top: 1.25rem; padding: .6rem 1.1rem; font: inherit; font-weight: 600; color: var(--panel); background: var(--link); border: 0; border-radius: 6px; cursor: pointer; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
a { color: var(--link); }
code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em; overflow-wrap: anywhere; }
.qr { display: block; width: 16rem; max-width: 100%; image-rendering: pixelated; }
.brand { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .75rem; margin-bottom: 1.25rem; }
.brand p { margin: 0; line-height: 1.3; }
.brand strong { display: block; }
.brand strong + span { color: var(--soft); font-size: .9rem; }
.logo { display: block; max-width: 100%; max-height: 4rem; }
.shows, .plain { margin: .35rem 0 0; padding: .2rem 0; font-size: .9rem; font-weight: 400; color: var(--link); background: none; text-decoration: underline; }
.shows:not([hidden]) { display: block; }
.plain { margin: 0; font-size: 1rem; }
.actions { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; }
.codes { padding: 0; list-style: none; columns: 2; }
.wrong { color: var(--wrong); font-weight: 600; }
@media (max-width: 30rem) { main { margin: 0; border-radius: 0; min-height: 100vh; } }
`;
