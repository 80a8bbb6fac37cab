import HtmlWebpackPlugin from 'html-webpack-plugin';

export default {
  mode: 'production',
  entry: './src/main.js',
  output: { filename: '[name].[contenthash].js', clean: true },
  plugins: [new HtmlWebpackPlugin({ template: './src/index.html' })],
  performance: { maxAssetSize: 700_000 }, // the worker: 575 kB, or 200 kB gzipped
};
