declare module '*?url' {
  const address: string;
  // Vite gives the address as the default export.
  export { address as default };
}
