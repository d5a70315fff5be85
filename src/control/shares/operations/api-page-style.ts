/**
 * The style of the browsable API page: one column on a phone, contents beside the text on wide screens, light and
 * dark.
 */

export const API_PAGE_STYLE = `
:root { color-scheme: light dark;
  --text: light-dark(#1b1f24, #e4e8ee); --soft: light-dark(#57606a, #a0a9b6); --page: light-dark(#fff, #14171c);
  --panel: light-dark(#f5f7f9, #1c2128); --line: light-dark(#d5dae0, #353c47); --link: light-dark(#0b57b0, #7ab4ff);
  --get: light-dark(#0a6640, #6fd7a4); --post: light-dark(#0b57b0, #7ab4ff); --put: light-dark(#7a4b00, #f0b95c);
  --delete: light-dark(#a8201a, #ff948c); }
* { box-sizing: border-box; }
body { margin: 0; font: 1rem/1.55 system-ui, sans-serif; color: var(--text); background: var(--page); }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible, .table:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: .5rem 1rem; background: var(--page); z-index: 2; }
header, .layout { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { margin: 0 0 .25rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 2.75rem 0 .75rem; font-size: 1.35rem; }
h4 { margin: 1.4rem 0 .4rem; font-size: .95rem; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
pre { margin: 0; padding: .8rem 1rem; overflow-x: auto; background: var(--panel); border: 1px solid var(--line); border-radius: 6px; }
pre code { overflow-wrap: normal; }
.soft { color: var(--soft); }
nav { margin-top: 1.5rem; }
nav summary { padding: .6rem .25rem; font-weight: 600; cursor: pointer; }
nav ul { margin: 0 0 .75rem; padding: 0; list-style: none; }
nav h2 { margin: 1rem 0 .2rem; font-size: .95rem; }
nav li a { display: block; padding: .3rem .25rem; text-decoration: none; color: var(--text); font-size: .9rem; }
nav li a:hover { text-decoration: underline; }
.operation { margin: .5rem 0; border: 1px solid var(--line); border-radius: 8px; }
.operation > summary { display: grid; grid-template-columns: 4.6rem 1fr; gap: 0 .5rem; align-items: baseline; padding: .65rem .9rem; cursor: pointer; list-style: none; border-radius: 8px; }
.operation > summary::-webkit-details-marker { display: none; }
.operation > summary:hover, .operation[open] > summary { background: var(--panel); }
.operation h3 { display: contents; font-size: 1rem; font-weight: 600; }
.operation h3 .what { grid-column: 2; font-weight: 400; font-size: .925rem; color: var(--soft); }
.method { font-weight: 700; font-size: .8rem; letter-spacing: .02em; }
.GET { color: var(--get); } .POST { color: var(--post); } .PUT, .PATCH { color: var(--put); } .DELETE { color: var(--delete); }
.detail { scroll-margin-top: 8rem; padding: .25rem .9rem 1.1rem; border-top: 1px solid var(--line); }
.table { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; }
th, td { padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
thead th { color: var(--soft); font-weight: 500; }
tbody th, tbody th code { white-space: nowrap; overflow-wrap: normal; }
footer { margin: 3rem 0 2rem; }
@media (min-width: 60rem) {
  .layout { display: grid; grid-template-columns: 15rem minmax(0, 1fr); gap: 2.5rem; }
  nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; padding: 1rem .5rem 2rem 0; }
  nav details::details-content { content-visibility: visible; height: auto; }
  nav summary { list-style: none; pointer-events: none; }
}
@media (max-width: 40rem) {
  table { font-size: .85rem; }
  th, td { padding-right: .5rem; }
  .operation > summary { grid-template-columns: 1fr; }
  .operation h3 .what { grid-column: 1; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print { nav { display: none; } .operation::details-content { content-visibility: visible; height: auto; } }
`;
