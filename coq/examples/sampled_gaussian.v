(* 3516*PoissonSubsample(Gaussian('11/10'), '8/1875')

   is (1.28131, 1e-5)-DP: at the order 12, by the improved conversion.
   Neighbours: add_remove.
   It rests on the theorems of papers that [published] in coq/Published.v lists, and on
   the axioms of Coq's real numbers and machine integers.
   Prove it with: make coq; coqc -w none -Q out/coq Symacct FILE *)

From Coq Require Import Reals Lra Lia List ZArith Permutation.
From Coquelicot Require Import Coquelicot.
From Symacct Require Import Evaluate.
Import ListNotations.
Open Scope R_scope.

Definition epsilon : R := (128131 / 100000).
Definition delta : R := (1 / 100000).
Definition expression : mechanism :=
  (Times 3516 (PoissonSubsample (Gaussian (11 / 10) 1) (8 / 1875))).

Theorem numerical : whole expression 12 + improved 12 delta <= epsilon.
Proof. unfold expression, epsilon, delta. evaluate_whole 81%positive. Qed.

Theorem guarantee rdp dp : published rdp dp -> dp expression epsilon delta.
Proof.
  intro papers. apply (whole_improved rdp dp papers expression 12).
  - unfold expression. in_range.
  - lia.
  - unfold delta. lra.
  - exact numerical.
Qed.
