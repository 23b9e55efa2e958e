/**
 * The one style of the report's page. The frame of the embedded component shows that page in a separate document.
 * The document inherits the frame's Content-Security-Policy, so the policy names the hash of this text.
 */
export const REPORT_STYLE = `
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 0.95rem/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.6rem; margin: 0 0 0.5rem; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; border-bottom: 1px solid #999; } h3 { font-size: 1rem; margin: 1rem 0 0.25rem; }
dl { margin: 0; display: flex; flex-wrap: wrap; gap: 0.5rem 2rem; } dt { color: #555; font-size: 0.85em; } dd { margin: 0; }
table { width: 100%; border-collapse: collapse; font-size: 0.85rem; } th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.5rem 0.3rem 0; border-bottom: 1px solid #ddd; overflow-wrap: break-word; } td:last-child { overflow-wrap: anywhere; }
.score strong { font-size: 2.4rem; } .none { color: #555; }
@media screen and (max-width: 46rem) { body { margin: 1rem auto; } table, tbody, tr, td { display: block; } thead { display: none; } tr { padding: 0.4rem 0; border-bottom: 1px solid #ddd; } td { display: flex; gap: 1rem; padding: 0.1rem 0; border: 0; overflow-wrap: anywhere; } td:empty { display: none; } td::before { content: attr(data-label); flex: 0 0 40%; color: #555; } dd, h1, li, p { overflow-wrap: anywhere; } dl div { min-width: 0; } }
@media print { body { margin: 0; max-width: none; padding: 0; font-size: 9.5pt; } h2 { break-after: avoid; } tr, li, dl div { break-inside: avoid; } thead { display: table-header-group; } }
@page { margin: 15mm; }
`;
