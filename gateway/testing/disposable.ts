// Node 20 has the symbol, and code that is written with `await using` uses it; TypeScript knows it only with a newer
// `lib`. Declared here as that declares it, so that these types need no more than ES2022.
declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }

  interface AsyncDisposable {
    [Symbol.asyncDispose](): PromiseLike<void>;
  }
}

export {};
