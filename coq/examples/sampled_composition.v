(* 100*PoissonSubsample(Laplace(2) + 2*PureDP('1/3'), '1/50')

   is (0.609375, 1e-5)-DP: at the order 25, by the improved conversion.
   Neighbours: add_remove.
   It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (39 / 64).
Definition delta : R := (1 / 100000).
Definition expression : mechanism :=
  (Times 100 (PoissonSubsample (Compose (Laplace 2 1) (Times 2 (PureDP (1 / 3)))) (1 / 50))).

Theorem numerical : whole expression 25 + improved 25 delta <= epsilon.
Proof. unfold expression, epsilon, delta. evaluate_whole 81%positive. Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. apply (whole_improved rdp dp papers expression 25).
  - unfold expression. in_range.
  - lia.
  - unfold delta. lra.
  - exact numerical.
Qed.
